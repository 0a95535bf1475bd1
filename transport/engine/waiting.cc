// How callers wait: one polls, sleeps when nothing comes, and the others park until they are told.
#include <sched.h>

#include <algorithm>
#include <utility>

#include "transport/base/log.h"
#include "transport/base/spin.h"
#include "transport/engine/engine.h"

namespace parley::transport {

using base::Clock;
using base::Deadline;

namespace {

// A sleeper looks at deadlines and at peers that stall at least this often.
constexpr auto longest_sleep_of_waiters = std::chrono::milliseconds(100);
// The same of what only a look tells of, while there is something: copies from a device, late agents.
constexpr auto device_period = std::chrono::microseconds(100);
// While a poll always finds something, the clock is still read every so many passes: deadlines count, and
// others may be in the middle of a handshake with us.
constexpr std::uint32_t busy_polls_per_clock = 16;
// Of those that are short.
constexpr std::uint32_t short_passes_per_progress = 4;

Endpoint* awaited_endpoint(std::span<Request* const> requests) noexcept {
  for (const Request* request : requests)
    if (request->state != RequestState::done)
      return request->peer != nullptr ? request->peer->endpoint : nullptr;
  return nullptr;
}

}  // namespace

// When a sleeper looks again at the latest. What comes from a device rings no bell, nor do late agents.
Clock::time_point Engine::end_of_sleep(Clock::time_point now,
                                       std::chrono::nanoseconds longest) const noexcept {
  const auto until = std::min(now + longest, next_expiry_);
  const bool only_looks_tell = messenger_.awaits_device() || !late_agents_.empty();
  return only_looks_tell ? std::min<Clock::time_point>(until, now + device_period) : until;
}

bool Engine::wait_any(std::span<Request* const> requests, std::chrono::nanoseconds timeout) {
  const auto one_ended = [requests] {
    return std::any_of(requests.begin(), requests.end(),
                       [](const Request* request) { return request->state == RequestState::done; });
  };
  return wait_for(condition_of(one_ended), requests, timeout);
}

bool Engine::wait_held(Request& request, std::chrono::nanoseconds timeout) {
  Request* const one = &request;
  const auto has_ended = [one] { return one->state == RequestState::done; };
  return wait_held(condition_of(has_ended), {&one, 1}, timeout);
}

// REQUIRES: the lock is held; the condition does not hold yet.
bool Engine::wait_held(WaitCondition condition, std::span<Request* const> requests,
                       std::chrono::nanoseconds timeout) {
  Watch watch{.requests = requests, .timeout = timeout, .idle = IdlePolicy(core_per_rank_, long_looks_)};
  bool holds = false;
  for (bool in_time = true; !holds && in_time;) {
    if (!deferred_.empty())
      run_deferred_unlocked();
    else
      in_time = polling_ ? park(watch) : poll_until(condition, watch);
    holds = condition.holds();
  }
  if (!polling_) hand_over();
  if (!asleep_) resign();
  const bool leaves_pending = messenger_.live_requests() != 0 && waiters_.empty();
  if (leaves_pending || has_unsent()) leave_rest_to_background();
  return holds;
}

// The poller's loop. True: the condition may hold, or there are functions to run; false: timed out.
bool Engine::poll_until(WaitCondition condition, Watch& watch) {
  polling_ = true;
  watch.yielded = {};
  quick_looks_.begin();
  Endpoint* awaited = awaited_endpoint(watch.requests);
  bool in_time = true;
  for (std::uint32_t busy_polls = 0; in_time;) {
    const std::uint32_t looks = quick_looks(awaited);
    const std::size_t events = poll_once(awaited, &condition, looks);
    if (short_passes_ == 0) count_poll();
    if (events != 0) {
      announce_events();
      watch.idle.reset();
      if (condition.holds()) break;
      watch.idle_since = watch.yielded = {};
      if (++busy_polls % busy_polls_per_clock == 0) {
        read_clock(watch);
        in_time = !timed_out(watch);
      }
    } else {
      in_time = rest(condition, watch, looks);
    }
    if (lock_.contended()) lock_.yield();
    // Others had the lock, or a deadline was looked at: what we wait for may have ended without an event.
    if (condition.holds() || !deferred_.empty()) break;
    awaited = awaited_endpoint(watch.requests);  // links may have come or gone
  }
  polling_ = false;
  hand_over();
  return in_time;
}

// How often `awaited` alone is looked at before the next pass: once if other things are looked at or counted
// with each pass, or the peer may want this core; not at all before a whole pass that is due, where something
// that was sent or is to be pulled may wait for one, and in one pass of four: its transport has more to do
// than to deliver.
std::uint32_t Engine::quick_looks(const Endpoint* awaited) const noexcept {
  static_assert((most_short_passes + 1) % short_passes_per_progress == 0,
                "the whole pass is one of the four");
  const bool may_look = awaited != nullptr && awaited->has_quick_look &&
                        short_passes_ % short_passes_per_progress != short_passes_per_progress - 1 &&
                        messenger_.link_calls() == calls_without_rest_;
  if (!may_look) return 0;
  const bool others_wait = lock_.contended() || messenger_.wants_pump() || !watchers_.empty() ||
                           !agents_.empty() || !late_agents_.empty();
  return others_wait || !core_per_rank_ ? 1 : QuickLooks::most;
}

// After a poll that found nothing. False: timed out.
bool Engine::rest(WaitCondition condition, Watch& watch, std::uint32_t quick_looks) {
  const bool idle_known = watch.idle_since.time_since_epoch().count() != 0;
  const auto idle = idle_known ? watch.now - watch.idle_since : std::chrono::nanoseconds(0);
  switch (watch.idle.next(idle, quick_looks)) {
    case IdlePolicy::Step::poll: base::cpu_relax(); return true;
    case IdlePolicy::Step::clock:
      read_clock(watch);
      if (timed_out(watch)) return false;
      // Though there is a core for each, whom we wait for may have been put on this one.
      [[fallthrough]];
    case IdlePolicy::Step::yield: give_core_away(watch); return true;
    case IdlePolicy::Step::sleep: break;
  }
  read_clock(watch);
  if (timed_out(watch)) return false;
  if (messenger_.is_patient(watch.now)) {
    give_core_away(watch);
    return true;
  }
  expire(watch.now);  // what was posted since the last tick has a deadline, too
  // A deadline may have ended what we wait for: then there is nothing to sleep for.
  if (condition.holds() || !deferred_.empty()) return true;
  auto until = end_of_sleep(watch.now, longest_sleep_of_waiters);
  if (watch.timeout < until - watch.started) until = watch.started + watch.timeout;
  sleep(until);
  watch.yielded = {};
  return true;
}

[[gnu::hot]] void Engine::give_core_away() {
  if (messenger_.live_requests() == 0) {  // the core clock counts for messages
    lock_.unlock();
    sched_yield();
    lock_.lock();
    return;
  }
  Watch watch{.requests = {}, .timeout = {}, .idle = IdlePolicy(core_per_rank_, long_looks_)};
  give_core_away(watch);
}

void Engine::give_core_away(Watch& watch) {
  const bool is_first = watch.yielded.time_since_epoch().count() == 0;
  const auto left = is_first ? Clock::now() : watch.yielded;
  lock_.unlock();
  sched_yield();
  watch.yielded = Clock::now();
  lock_.lock();
  watch.idle.note_yield(watch.yielded - left);
  messenger_.core_clock().note_given_away(left, watch.yielded);
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

// True: every transport will wake the reactor, which has been told of the sleep. False: look again.
bool Engine::arm_for_sleep() noexcept {
  short_passes_ = most_short_passes;  // the next pass takes back what the transports announce here
  // A deadline may have woken an agent since the last poll.
  if (!agents_.empty() || messenger_.lose_patience() != 0) return false;
  reactor_.announce_sleep();
  for (auto& transport : transports_) {
    if (transport->arm()) continue;
    reactor_.cancel_sleep();
    return false;
  }
  // After the transports: their bells tell those whom the watchers look at that we sleep.
  if (look_at_watchers() != 0) {
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
  if (sleep_announced_) stand_in_for_loop();
  if (!arm_for_sleep()) return;
  asleep_ = true;
  const auto left = Clock::now();
  lock_.unlock();
  try {
    reactor_.sleep(Deadline::at(until));
  } catch (const std::exception& error) {
    // Nothing of ours throws there. Whatever it was, the next poll finds what the sleep would have found.
    PARLEY_LOG(warn, "engine", "the reactor failed: ", error.what());
  }
  const auto back = Clock::now();
  lock_.lock();
  asleep_ = false;
  messenger_.core_clock().note_given_away(left, back);
}

// Somebody else polls: sleep until an operation ends or the poller hands over. False: timed out.
bool Engine::park(Watch& watch) {
  Waiter waiter;
  waiter.for_any_event = watch.requests.empty();
  waiters_.push_back(waiter);
  for (Request* request : watch.requests) request->waiter = &waiter.parker;
  const auto now = Clock::now();
  if (watch.started.time_since_epoch().count() == 0) watch.started = now;
  auto deadline = Deadline::never();
  if (watch.timeout < Clock::time_point::max() - watch.started)
    deadline = Deadline::at(watch.started + watch.timeout);
  lock_.unlock();
  waiter.parker.park(deadline);
  lock_.lock();
  waiters_.remove(waiter);
  for (Request* request : watch.requests) request->waiter = nullptr;
  watch.now = Clock::now();
  return !timed_out(watch);
}

// The poller's place is free: the longest waiting thread takes it.
void Engine::hand_over() noexcept {
  if (!waiters_.empty()) waiters_.front()->parker.unpark();
}

}  // namespace parley::transport
