#include "transport/engine/engine.h"

#include <parley/error.h>

#include <algorithm>
#include <mutex>
#include <string>
#include <system_error>

#include "transport/base/log.h"

namespace parley::transport {

using base::Clock;
using base::Deadline;

namespace {

constexpr auto tick_period = std::chrono::milliseconds(5);
constexpr auto drain_period = std::chrono::milliseconds(2);
constexpr auto reactor_period = std::chrono::microseconds(200);
// A handshake goes on for some round trips after each of its steps.
constexpr auto reactor_attention = std::chrono::milliseconds(20);

}  // namespace

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
  return send_held(spec, background);
}

Posted Engine::receive(const ReceiveSpec& spec, bool background) {
  const Held held(*this);
  return receive_held(spec, background);
}

bool Engine::a_transport_has_unsent() noexcept {
  const bool unsent = std::any_of(transports_.begin(), transports_.end(),
                                  [](const auto& transport) { return transport->unsent(); });
  if (!unsent) calls_without_rest_ = messenger_.link_calls();
  return unsent;
}

// A caller goes away and leaves something that somebody else has to move.
void Engine::leave_rest_to_background() noexcept {
  activate_background();
  wake_sleepers();
}

// Whoever sleeps must look again after another thread has posted something or ended what it waits for.
void Engine::wake_sleepers() noexcept {
  if (asleep_) reactor_.ring();
  announce_events();
}

// For those whose wake-up no request tells: waiters for a condition, and a user's event loop.
void Engine::tell_listeners() noexcept {
  for (Waiter* waiter = waiters_.front(); waiter != nullptr; waiter = waiters_.next(*waiter))
    if (waiter->for_any_event) waiter->parker.unpark();
  event_loop_bell_.ring();
}

// Takes back what the transports have announced of a sleep: whoever slept on that is stood in for, or rung.
std::size_t Engine::poll_once(Endpoint* awaited, const WaitCondition* condition,
                              std::uint32_t quick_looks) noexcept {
  if (sleep_announced_) [[unlikely]]
    stand_in_for_loop();
  messenger_.end_burst();
  std::size_t events = quick_looks_.at(awaited, quick_looks);
  const bool may_be_short = condition != nullptr && short_passes_ < most_short_passes;
  bool is_short = false;
  for (auto& transport : transports_) {
    is_short = may_be_short && events != 0 && condition->holds();
    if (is_short) break;
    events += transport->progress(awaited);
  }
  short_passes_ = is_short ? short_passes_ + 1 : 0;
  if (messenger_.wants_pump()) events += messenger_.pump();
  if (!watchers_.empty()) events += look_at_watchers();
  return agents_.empty() && late_agents_.empty() ? events : events + advance_agents();
}

std::size_t Engine::look_at_watchers() noexcept {
  std::size_t events = 0;
  for (Watcher* watcher = watchers_.front(); watcher != nullptr; watcher = watchers_.next(*watcher))
    events += watcher->look() ? 1 : 0;
  return events;
}

// Each once: one that has much to do wakes itself again, so that the network is looked at in between. Where
// all of them were late ones and ended nothing, nothing has happened: a waiter may go to sleep.
std::size_t Engine::advance_agents() noexcept {
  const bool any_awake = !agents_.empty();
  const std::uint64_t ended = messenger_.ended_requests();
  while (Agent* late = late_agents_.pop_front()) agents_.push_back(*late);
  std::size_t advanced = 0;
  for (Agent* last = agents_.back(); Agent* agent = agents_.pop_front(); ++advanced) {
    agent->advance();
    if (agent == last) break;
  }
  return any_awake || messenger_.ended_requests() != ended ? advanced + 1 : 0;
}

void Engine::set_core_per_rank(bool core_per_rank) {
  const std::lock_guard held(lock_);
  core_per_rank_ = core_per_rank;
  messenger_.core_clock().share_core(!core_per_rank);
}

// Takes the lock for the list, so that each entry runs once, and lets it go for the run. One at a time:
// others may be run by others while one waits for something.
void Engine::run_deferred() {
  const std::lock_guard held(lock_);
  DeferredRun run;
  deferred_runs_.push_back(run);
  while (Deferred* next = deferred_.pop_front()) {
    lock_.unlock();
    next->run();
    lock_.lock();
  }
  deferred_runs_.remove(run);
  event_loop_bell_.ring();  // the loop may have looked before they ran
}

// REQUIRES: the lock is held, and is again afterwards; the caller is not the poller, for a deferred function
// may wait for something itself.
void Engine::run_deferred_unlocked() {
  lock_.unlock();
  run_deferred();
  lock_.lock();
}

void Engine::tick(Clock::time_point now) noexcept {
  if (!asleep_ && now >= next_reactor_poll_) {
    reactor_.poll();
    next_reactor_poll_ = now + reactor_period;
  }
  const std::uint64_t work = reactor_.work_done();
  if (std::exchange(seen_reactor_work_, work) != work) reactor_busy_until_ = now + reactor_attention;
  if (now < next_tick_ && now < next_expiry_) return;
  expire(now);
  next_tick_ = now + tick_period;
}

// Ends what is past its deadline; those who wait for a condition or in an event loop hear of it.
void Engine::expire(Clock::time_point now) noexcept {
  const auto ended = messenger_.ended_requests();
  next_expiry_ = messenger_.tick(now);
  if (messenger_.ended_requests() != ended) announce_events();
}

// REQUIRES: the lock is held.
std::size_t Engine::look_once() {
  tick(Clock::now());
  return look_at_network();
}

// REQUIRES: the lock is held.
std::size_t Engine::look_at_network() {
  count_poll();
  const std::size_t events = poll_once(nullptr);
  if (events != 0) announce_events();
  if (asleep_)
    reactor_.ring();  // it has to arm again
  else
    resign();
  return events;
}

std::size_t Engine::poll() {
  const Held held(*this);
  return look_once();
}

void Engine::close_context(std::uint32_t context) {
  const Held held(*this);
  messenger_.close_context(context);
  if (has_unsent()) activate_background();
}

void Engine::abort_context(std::uint32_t context, std::string_view reason) {
  const Held held(*this);
  if (!messenger_.abort_context(context, options_.messenger.self, reason))
    throw ResourceError("out of memory for an abort");
  if (has_unsent()) activate_background();
  wake_sleepers();
}

std::size_t Engine::leave(std::optional<std::uint32_t> culprit, bool last, std::chrono::nanoseconds linger) {
  const Deadline deadline = Deadline::after(linger);
  {
    const Held held(*this);
    if (left_) return 0;
    left_ = true;
  }
  std::size_t undelivered = 0;
  const auto no_sends = [](const Messenger& messenger) {
    return messenger.live_sends() == 0 && !messenger.owes_aborts();
  };
  if (!culprit && !wait_until(no_sends, deadline.remaining()))
    undelivered = inspect([](const Messenger& messenger) { return messenger.live_sends(); });
  locked([culprit](Messenger& messenger) { messenger.leave(culprit); });
  // Nothing wakes us when the last bytes have arrived: look again and again.
  const auto drained = [](const Messenger& messenger) { return messenger.drained(); };
  while (!wait_until(drained, std::min<std::chrono::nanoseconds>(deadline.remaining(), drain_period)))
    if (deadline.expired()) break;
  if (last) wait_until([](const Messenger& m) { return m.is_alone(); }, deadline.remaining());

  const Held held(*this);
  const SleeperAlarm alarm(*this);
  for (auto& transport : transports_) transport->close();
  for (auto& transport : transports_)
    while (transport->progress(nullptr) != 0) {
    }
  messenger_.end();
  return undelivered;
}

}  // namespace parley::transport
