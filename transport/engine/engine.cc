#include "transport/engine/engine.h"

#include <sched.h>

#include <algorithm>
#include <system_error>

#include "transport/base/log.h"

namespace parley::transport {

using base::Clock;
using base::Deadline;

namespace {

constexpr auto tick_period = std::chrono::milliseconds(5);
constexpr auto drain_period = std::chrono::milliseconds(2);
// A sleeper looks at deadlines and at peers that stall at least this often.
constexpr auto longest_sleep = std::chrono::milliseconds(100);
// While a poll always finds something, the clock is still read every so many passes: deadlines count, and
// others may be in the middle of a handshake with us.
constexpr std::uint32_t busy_polls_per_clock = 16;
constexpr auto reactor_period = std::chrono::microseconds(200);

}  // namespace

struct Engine::Waiter {
  base::Parker parker;
  bool for_any_event = false;  // waits for a condition that no request tells the end of
};

Engine::Engine(const EngineOptions& options) : options_(options), messenger_(options.messenger) {}

Engine::~Engine() {
  leave(std::nullopt, false, std::chrono::nanoseconds(0));
  stop_background();
}

Transport& Engine::add(std::unique_ptr<Transport> transport) {
  const std::lock_guard held(lock_);  // whoever sets the engine up need not be a thread that uses it
  if (const base::Status status = transport->start(messenger_); status.failed())
    throw std::system_error(status.native(), std::system_category(), std::string(transport->name()));
  transports_.push_back(std::move(transport));
  return *transports_.back();
}

Posted Engine::send(const SendSpec& spec, bool background) {
  const Held held(*this);
  const Posted posted = messenger_.send(spec);
  const bool goes_on = posted.request != nullptr || spec.urgency == Endpoint::Urgency::batch;
  if (goes_on && background) activate_background();
  if (goes_on)
    wake_sleepers();
  else
    leave_rest_to_background();
  return posted;
}

// A caller goes away. What its peers wait for may still be in a staging buffer or an outbox, because a link
// was full; then somebody else moves it.
void Engine::leave_rest_to_background() noexcept {
  bool rest = messenger_.is_blocked();
  for (const auto& transport : transports_) rest = rest || transport->unsent();
  if (!rest) return;
  activate_background();
  wake_sleepers();
}

Posted Engine::receive(const ReceiveSpec& spec, bool background) {
  const Held held(*this);
  const Posted posted = messenger_.receive(spec);
  if (background && posted.request != nullptr && posted.request->state != RequestState::done)
    activate_background();
  wake_sleepers();
  return posted;
}

// Whoever sleeps must look again after another thread has posted something or ended what it waits for.
void Engine::wake_sleepers() noexcept {
  if (asleep_) reactor_.ring();
  announce_events();
}

// For those whose wake-up no request tells: waiters for a condition, and a user's event loop.
void Engine::announce_events() noexcept {
  for (Waiter* waiter : waiters_)
    if (waiter->for_any_event) waiter->parker.unpark();
  event_loop_bell_.ring();
}

std::size_t Engine::poll_once(Endpoint* awaited) noexcept {
  messenger_.end_burst();
  std::size_t events = 0;
  for (auto& transport : transports_) events += transport->progress(awaited);
  if (messenger_.wants_pump()) events += messenger_.pump();
  return events;
}

void Engine::set_core_per_rank(bool core_per_rank) {
  const std::lock_guard held(lock_);
  core_per_rank_ = core_per_rank;
}

// Takes the lock for the list, so that each entry runs once, and lets it go for the run.
void Engine::run_deferred() {
  std::vector<Deferred> due;
  lock_.lock();
  due.swap(deferred_);
  lock_.unlock();
  for (const Deferred& entry : due) entry.run(entry.argument);
  const std::lock_guard held(lock_);
  event_loop_bell_.ring();  // the loop may have looked before they ran
}

// Lets contenders have the lock and deferred calls run. REQUIRES: the lock is held, and is again afterwards.
void Engine::release_briefly() {
  if (lock_.contended()) lock_.yield();
  if (deferred_.empty()) return;
  lock_.unlock();
  run_deferred();
  lock_.lock();
}

void Engine::tick(Clock::time_point now) noexcept {
  if (!asleep_ && now >= next_reactor_poll_) {
    reactor_.poll();
    next_reactor_poll_ = now + reactor_period;
  }
  if (now < next_tick_ && now < next_expiry_) return;
  next_expiry_ = messenger_.tick(now);
  next_tick_ = now + tick_period;
}

// REQUIRES: the lock is held.
std::size_t Engine::look_once() {
  ++polls_;
  tick(Clock::now());
  const std::size_t events = poll_once(nullptr);
  if (events != 0) wake_sleepers();
  return events;
}

std::size_t Engine::poll() {
  const Held held(*this);
  return look_once();
}

std::size_t Engine::progress() {
  const Held held(*this);
  end_announced_sleep();
  loop_relies_on_sleeper_ = false;
  event_loop_bell_.loop_looks();
  // Whoever is asleep already handles the next event, and tells the loop.
  do {
    if (const std::size_t events = look_once(); events != 0) return events;
    sleep_announced_ = !asleep_ && arm_for_sleep();
  } while (!asleep_ && !sleep_announced_);
  loop_relies_on_sleeper_ = asleep_;
  event_loop_bell_.loop_sleeps();
  return 0;
}

// A thread that slept in the place of a user's event loop does so no longer: the loop has to arm again.
void Engine::resign() noexcept {
  if (std::exchange(loop_relies_on_sleeper_, false)) event_loop_bell_.ring();
}

void Engine::end_announced_sleep() noexcept {
  if (std::exchange(sleep_announced_, false)) reactor_.end_announced_sleep();
}

int Engine::descriptor() {
  const Held held(*this);
  return event_loop_bell_.descriptor(reactor_);
}

Endpoint* Engine::awaited_endpoint(std::span<Request* const> requests) noexcept {
  for (const Request* request : requests)
    if (request->state != RequestState::done)
      return request->peer != nullptr ? request->peer->endpoint : nullptr;
  return nullptr;
}

bool Engine::wait_any(std::span<Request* const> requests, std::chrono::nanoseconds timeout) {
  const auto one_ended = [requests] {
    return std::any_of(requests.begin(), requests.end(),
                       [](const Request* request) { return request->state == RequestState::done; });
  };
  return wait_for(condition_of(one_ended), requests, timeout);
}

bool Engine::wait_for(WaitCondition condition, std::span<Request* const> requests,
                      std::chrono::nanoseconds timeout) {
  const Held held(*this);
  Watch watch{.requests = requests, .timeout = timeout, .idle = IdlePolicy(core_per_rank_)};
  bool holds = condition.holds();
  while (!holds) {
    const bool in_time = polling_ ? park(watch) : poll_until(condition, watch);
    holds = condition.holds();
    if (!in_time) break;
  }
  if (!polling_) hand_over();
  if (!asleep_) resign();
  leave_rest_to_background();
  return holds;
}

// The poller's loop. True: the condition may hold; false: timed out.
bool Engine::poll_until(WaitCondition condition, Watch& watch) {
  polling_ = true;
  Endpoint* awaited = awaited_endpoint(watch.requests);
  bool in_time = true;
  for (std::uint32_t busy_polls = 0; in_time;) {
    ++polls_;
    const std::size_t events = poll_once(awaited);
    if (events != 0) {
      announce_events();
      if (condition.holds()) break;
      awaited = awaited_endpoint(watch.requests);  // links may have come or gone
      watch.idle.reset();
      watch.idle_since = {};
      if (++busy_polls % busy_polls_per_clock == 0) {
        read_clock(watch);
        in_time = !timed_out(watch);
      }
    } else {
      in_time = rest(watch);
    }
    if (lock_.contended() || !deferred_.empty()) release_briefly();
    // Others had the lock, or a deadline was looked at: what we wait for may have ended without an event.
    if (condition.holds()) break;
    if (events == 0) awaited = awaited_endpoint(watch.requests);
  }
  polling_ = false;
  hand_over();
  return in_time;
}

// After a poll that found nothing. False: timed out.
bool Engine::rest(Watch& watch) {
  const bool idle_known = watch.idle_since.time_since_epoch().count() != 0;
  switch (watch.idle.next(idle_known ? watch.now - watch.idle_since : std::chrono::nanoseconds(0))) {
    case IdlePolicy::Step::poll: return true;
    case IdlePolicy::Step::clock: read_clock(watch); return !timed_out(watch);
    case IdlePolicy::Step::yield:
      lock_.unlock();
      sched_yield();
      lock_.lock();
      return true;
    case IdlePolicy::Step::sleep: break;
  }
  read_clock(watch);
  if (timed_out(watch)) return false;
  next_expiry_ = messenger_.tick(watch.now);  // what was posted since the last tick has a deadline, too
  auto until = std::min(watch.now + longest_sleep, next_expiry_);
  if (watch.timeout < until - watch.started) until = watch.started + watch.timeout;
  sleep(until);
  return true;
}

void Engine::read_clock(Watch& watch) noexcept {
  watch.now = Clock::now();
  if (watch.started.time_since_epoch().count() == 0) watch.started = watch.now;
  if (watch.idle_since.time_since_epoch().count() == 0) watch.idle_since = watch.now;
  tick(watch.now);
  look_for_deadlock(watch);
}

bool Engine::timed_out(const Watch& watch) const noexcept {
  return watch.now - watch.started >= watch.timeout;
}

// True: every transport will wake the reactor, which has been told of the sleep.
bool Engine::arm_for_sleep() noexcept {
  reactor_.announce_sleep();
  for (auto& transport : transports_) {
    if (transport->arm()) continue;
    reactor_.cancel_sleep();
    return false;
  }
  return true;
}

void Engine::sleep(Clock::time_point until) {
  if (asleep_) {  // the background thread sleeps for us: have it leave, and poll meanwhile
    reactor_.ring();
    lock_.yield();
    return;
  }
  if (sleep_announced_) loop_relies_on_sleeper_ = true;
  end_announced_sleep();
  if (!arm_for_sleep()) return;
  asleep_ = true;
  lock_.unlock();
  try {
    reactor_.sleep(Deadline::at(until));
  } catch (const std::exception& error) {
    // Nothing of ours throws there. Whatever it was, the next poll finds what the sleep would have found.
    PARLEY_LOG(warn, "engine", "the reactor failed: ", error.what());
  }
  lock_.lock();
  asleep_ = false;
}

// Somebody else polls: sleep until an operation ends or the poller hands over. False: timed out.
bool Engine::park(Watch& watch) {
  Waiter waiter;
  waiter.for_any_event = watch.requests.empty();
  waiters_.push_back(&waiter);
  for (Request* request : watch.requests) request->waiter = &waiter.parker;
  const auto now = Clock::now();
  if (watch.started.time_since_epoch().count() == 0) watch.started = now;
  auto deadline = Deadline::never();
  if (watch.timeout < Clock::time_point::max() - watch.started)
    deadline = Deadline::at(watch.started + watch.timeout);
  lock_.unlock();
  waiter.parker.park(deadline);
  lock_.lock();
  waiters_.remove(&waiter);
  for (Request* request : watch.requests) request->waiter = nullptr;
  watch.now = Clock::now();
  return !timed_out(watch);
}

// The poller's place is free: the longest waiting thread takes it.
void Engine::hand_over() noexcept {
  if (!waiters_.empty()) waiters_.front()->parker.unpark();
}

void Engine::abort_context(std::uint32_t context, std::string_view reason) {
  const Held held(*this);
  messenger_.abort_context(context, options_.messenger.self, reason);
  wake_sleepers();
}

std::size_t Engine::leave(std::optional<std::uint32_t> culprit, bool last, std::chrono::nanoseconds linger) {
  const Deadline deadline = Deadline::after(linger);
  {
    const Held held(*this);
    if (left_) return 0;
    left_ = true;
  }
  // Nothing wakes us when the last bytes have arrived: look again and again.
  const auto wait_for_drain = [&](auto&& condition) {
    while (!wait_until(condition, std::min<std::chrono::nanoseconds>(deadline.remaining(), drain_period)))
      if (deadline.expired()) return false;
    return true;
  };
  std::size_t undelivered = 0;
  if (!culprit && !wait_for_drain([](const Messenger& m) { return m.drained() && m.live_sends() == 0; }))
    undelivered = locked([](Messenger& messenger) { return messenger.live_sends(); });
  locked([culprit](Messenger& messenger) { messenger.leave(culprit); });
  wait_for_drain([](const Messenger& m) { return m.drained(); });
  if (last) wait_until([](const Messenger& m) { return m.is_alone(); }, deadline.remaining());

  const Held held(*this);
  const SleeperAlarm alarm(*this);
  for (auto& transport : transports_) transport->close();
  for (auto& transport : transports_)
    while (transport->progress(nullptr) != 0) {
    }
  return undelivered;
}

}  // namespace parley::transport
