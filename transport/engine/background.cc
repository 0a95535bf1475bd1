// Progress while nobody waits: a thread that is parked while nothing is pending, looks now and then whether
// callers poll while something is, and polls and sleeps in their place when they do not.
#include <system_error>

#include "transport/base/log.h"
#include "transport/base/threads.h"
#include "transport/engine/engine.h"

namespace parley::transport {

using base::Clock;
using base::Deadline;

namespace {

// Between two looks; overlap starts after two at most.
constexpr auto look_period = std::chrono::microseconds(400);
// Looks that find nothing to do before the thread parks: longer than the pause between two messages of a busy
// program, so that it is not woken for each.
constexpr int quiet_looks = 50;
constexpr auto longest_sleep = std::chrono::milliseconds(50);
// So many looks in a row are left out because somebody had the lock at that moment: a caller, that is, who is
// at work. To wait for it would take the core from that caller, and from one that owns the lock more than
// that.
constexpr int most_looks_left_out = 4;
// The same because callers have looked since the last time.
constexpr int most_looks_of_callers = 50;
// Of a parked thread, for peers that wonder whether this process lives.
constexpr auto pulse_period = std::chrono::seconds(1);
// As long as it finds something: a death is heard, then seen, then told.
constexpr int most_looks_of_pulse = 8;

}  // namespace

void Engine::wake_background() noexcept {
  if (!options_.background) return;
  background_.store(Background::watching, std::memory_order_relaxed);  // the parker's permit orders it
  start_background_thread();
  if (!background_thread_.joinable())
    background_.store(Background::parked, std::memory_order_relaxed);  // try again at the next occasion
  background_parker_.unpark();
}

void Engine::start_pulse() {
  const Held held(*this);
  if (!options_.background) return;
  const bool is_parked_already = background_thread_.joinable();
  has_pulse_.store(true, std::memory_order_relaxed);  // the start of the thread, or the permit, orders it
  start_background_thread();
  if (is_parked_already) background_parker_.unpark();
}

void Engine::start_background_thread() noexcept {
  if (background_thread_.joinable()) return;
  try {
    background_thread_ = base::start_own_thread("progress", [this] { background_main(); });
  } catch (const std::exception& error) {
    PARLEY_LOG(warn, "engine", "no background progress: ", error.what());
  }
}

void Engine::stop_background() noexcept {
  {
    lock_.lock();
    background_.store(Background::stopping, std::memory_order_relaxed);  // the parker's permit orders it
    wake_sleepers();
    lock_.unlock();
  }
  background_parker_.unpark();
  if (background_thread_.joinable()) background_thread_.join();
}

bool Engine::on_background_thread() const noexcept {
  return background_thread_.get_id() == std::this_thread::get_id();
}

void Engine::background_main() noexcept {
  std::uint64_t seen_polls = 0;
  int quiet_turns = 0;
  int left_out = 0;
  int left_to_callers = 0;
  for (;;) {
    // relaxed, both: what was stored before unpark() is seen at the latest in the turn after the park() that
    // takes its permit.
    const auto state = background_.load(std::memory_order_relaxed);
    if (state == Background::stopping) return;
    const bool has_pulse = has_pulse_.load(std::memory_order_relaxed);
    background_parker_.park(state == Background::watching ? Deadline::after(look_period)
                            : has_pulse                   ? Deadline::after(pulse_period)
                                                          : Deadline::never());
    if (state == Background::watching && callers_have_polled(seen_polls) &&
        ++left_to_callers <= most_looks_of_callers)
      continue;
    if (!lock_.try_lock()) {
      if (state == Background::watching && ++left_out <= most_looks_left_out) continue;
      lock_.lock();
    }
    left_out = left_to_callers = 0;
    look_in(seen_polls);
    if (!deferred_.empty()) run_deferred_unlocked();
    while (background_turn(seen_polls, quiet_turns)) {
      if (lock_.contended()) lock_.yield();
      if (!deferred_.empty()) run_deferred_unlocked();
    }
    if (!asleep_) resign();
    lock_.unlock();
  }
}

// The look of a parked thread, unless a caller has looked meanwhile.
// relaxed, here and in background_turn(): under the lock.
void Engine::look_in(std::uint64_t& seen_polls) noexcept {
  if (background_.load(std::memory_order_relaxed) != Background::parked) return;
  const bool callers_look = polling_ || asleep_ || callers_have_polled(seen_polls);
  if (!callers_look) {
    tick(Clock::now());
    for (int looks = 0; looks < most_looks_of_pulse; ++looks) {
      // As after a sleep: what a transport asks for at every so many looks only is due now, too.
      for (auto& transport : transports_) transport->arm();
      if (poll_once(nullptr) == 0) break;
      announce_events();
    }
    // Somebody dials us, and waits for the next step of the handshake.
    if (reactor_is_busy(Clock::now())) background_.store(Background::watching, std::memory_order_relaxed);
  }
}

// Whether it has done something a moment ago, so that more may follow.
bool Engine::reactor_is_busy(Clock::time_point now) const noexcept {
  return now < reactor_busy_until_;
}

// One look. True: nobody else polls and there is more to do, look again at once.
bool Engine::background_turn(std::uint64_t& seen_polls, int& quiet_turns) noexcept {
  if (background_.load(std::memory_order_relaxed) != Background::watching) return false;
  const bool callers_poll = polling_ || callers_have_polled(seen_polls);
  const auto now = Clock::now();
  const bool pending = messenger_.live_requests() != 0 || has_unsent() || reactor_is_busy(now);
  // Whoever waits activates us again when it leaves something pending behind.
  quiet_turns = polling_ || !pending ? quiet_turns + 1 : 0;
  if (quiet_turns >= quiet_looks) {
    quiet_turns = 0;
    background_.store(Background::parked, std::memory_order_relaxed);
  }
  if (callers_poll || !pending || asleep_) return false;
  tick(now);
  if (poll_once(nullptr) != 0) {
    announce_events();
    return true;
  }
  expire(now);
  if (deferred_.empty()) sleep(end_of_sleep(now, longest_sleep));
  return true;
}

}  // namespace parley::transport
