#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "transport/base/deadline.h"
#include "transport/base/fork_guard.h"
#include "transport/base/intrusive_list.h"
#include "transport/base/parker.h"
#include "transport/engine/agent.h"
#include "transport/engine/engine_lock.h"
#include "transport/engine/event_loop_bell.h"
#include "transport/engine/idle_policy.h"
#include "transport/engine/quick_looks.h"
#include "transport/interface/transport.h"
#include "transport/protocol/messenger.h"
#include "transport/socket/reactor.h"

namespace parley::transport {

struct EngineOptions {
  MessengerOptions messenger;
  bool background = true;  // whether pending operations advance while nobody waits
};

// What a wait() waits for, without an allocation: a function and its argument.
struct WaitCondition {
  bool (*check)(const void*);
  const void* argument;
  [[nodiscard]] bool holds() const { return check(argument); }
};

// REQUIRES: `condition`, callable without arguments, outlives the result.
template <typename Condition>
WaitCondition condition_of(const Condition& condition) {
  return {[](const void* argument) -> bool { return (*static_cast<const Condition*>(argument))(); },
          &condition};
}

struct DeferredTag;

// Something to do without the lock.
struct Deferred : base::ListHook<DeferredTag> {
  virtual void run() noexcept = 0;  // once; may end the object's life

 protected:
  ~Deferred() = default;
};

// The progress engine of a rank: owns the reactor, the transports, the messenger and the one lock, and
// decides who polls, who sleeps, and when.
//
// Progress. One thread at a time is the poller: it polls the transports under the lock, lets contenders in
// between, and sleeps in the reactor with the lock released. Other waiting threads sleep on parkers of their
// own and are woken when their operation ends, or to become the poller. When operations are pending and
// nobody polls, a background thread does; it sleeps otherwise, but for a look each second (start_pulse()).
//
// Invariants: (1) messenger and transports are touched by the holder of the lock only; (2) at most one thread
// is inside Reactor::sleep() (`asleep_`), and handlers that run there only enqueue; (3) while threads wait,
// one of them is the poller or has been woken to become it. Thread-safety: all public methods but add() may
// be called from any thread.
class Engine {
 public:
  explicit Engine(const EngineOptions& options);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Starts the transport. Throws what start() throws, or SystemError. Before the first operation only.
  Transport& add(std::unique_ptr<Transport> transport);
  [[nodiscard]] socket::Reactor& reactor() noexcept { return reactor_; }

  class Visit;

  // Posts an operation. `background`: its caller may not come back soon, so it advances by itself.
  Posted send(const SendSpec& spec, bool background);
  Posted receive(const ReceiveSpec& spec, bool background);
  // Several steps on the messenger under the lock. `action` must not block or throw.
  template <typename Action>
  auto locked(Action&& action) {
    const Held held(*this);
    const SleeperAlarm alarm(*this);
    return action(messenger_);
  }
  // The same for a thread of Parley's own that may not run completion functions, for these may end what it
  // works for. They are left to whoever makes progress.
  template <typename Action>
  auto locked_aside(Action&& action) {
    const HeldAside held(*this);
    const SleeperAlarm alarm(*this);
    return action(messenger_);
  }
  // The same as locked() for a look that changes nothing.
  template <typename Look>
  auto inspect(Look&& look) {
    const Held held(*this);
    return look(std::as_const(messenger_));
  }

  // Polls or sleeps until one of the requests has ended. False: `timeout` passed first, nothing has changed.
  bool wait_any(std::span<Request* const> requests, std::chrono::nanoseconds timeout);
  bool wait(Request& request, std::chrono::nanoseconds timeout) {
    Request* one = &request;
    return wait_any({&one, 1}, timeout);
  }
  // The same for any condition on the messenger; it is checked under the lock after every event.
  template <typename Condition>
  bool wait_until(Condition&& condition, std::chrono::nanoseconds timeout) {
    const auto holds = [&] { return condition(messenger_); };
    return wait_for(condition_of(holds), {}, timeout);
  }

  // One look at the network, without waiting. Returns the number of events.
  std::size_t poll();
  // For a user's event loop: the same, but when it returns 0, descriptor() will turn readable as soon as
  // there may be something new.
  std::size_t progress();
  // Valid as long as the engine. Throws ResourceError, SystemError.
  int descriptor();

  // Has `deferred.run` called soon, on whichever thread makes progress, with the lock not held. For what
  // follows the end of a request. REQUIRES: the lock is held (Request::on_done, locked()); `deferred` lives
  // until it runs.
  void defer(Deferred& deferred) noexcept { deferred_.push_back(deferred); }

  // Has `agent.advance` called at the end of the look at the network that is under way, or of the next one.
  // Does nothing if that is so already. REQUIRES: the lock is held; the agent lives until then.
  void wake(Agent& agent) noexcept {
    if (!AgentList::is_linked(agent)) agents_.push_back(agent);
  }
  // The same of the next look, which nobody sleeps long before: for what nothing tells of but a look.
  void wake_later(Agent& agent) noexcept {
    if (!AgentList::is_linked(agent)) late_agents_.push_back(agent);
  }

  // Has `watcher.look` called at every look at the network, and before every sleep. REQUIRES: the lock is
  // held; the watcher lives until it has left the list.
  void watch(Watcher& watcher) noexcept {
    if (!WatcherList::is_linked(watcher)) watchers_.push_back(watcher);
  }

  // From now on answers peers that ask whether this process lives, also while it calls nothing and nothing is
  // pending: costs a wake-up a second.
  void start_pulse();

  // Whether this host has a core for each of the job's ranks on it; decides how waits wait, and by what time
  // paths are compared. At first: yes. REQUIRES: no link to another process yet.
  void set_core_per_rank(bool core_per_rank);
  // REQUIRES: the lock is held.
  [[nodiscard]] bool has_core_per_rank() const noexcept { return core_per_rank_; }
  // Once, and the lock with it. REQUIRES: the lock is held.
  void give_core_away();

  // Whether what this thread waits for may be done by another one of this process: by another thread of the
  // program, or by a completion function.
  [[nodiscard]] bool has_other_hands();

  // As Messenger::close_context(); the peers are told soon.
  void close_context(std::uint32_t context);

  // Ends everything in a context with `reason`, everywhere. Waiters return at once. Throws ResourceError.
  void abort_context(std::uint32_t context, std::string_view reason);

  // Delivers what was sent, says goodbye (naming `culprit`, whose failure is the cause, if there is one) and
  // closes all links, within `linger`; `last`: after every peer has left. Returns how many sends were not
  // delivered. Idempotent.
  std::size_t leave(std::optional<std::uint32_t> culprit, bool last, std::chrono::nanoseconds linger);

  // Whether the caller is the thread that makes progress while nobody waits.
  [[nodiscard]] bool on_background_thread() const noexcept;

  // Whether this object was carried into a forked child, where nothing of it may be used.
  [[nodiscard]] bool in_forked_child() const noexcept { return fork_guard_.in_child(); }

 private:
  struct WaiterTag;
  struct Waiter : base::ListHook<WaiterTag> {  // a thread that is parked because another one polls
    base::Parker parker;
    bool for_any_event = false;  // waits for a condition that no request tells the end of
  };
  class Held {  // the lock; deferred functions run after it
   public:
    explicit Held(Engine& engine) : engine_(engine) { engine.lock_.lock(); }
    [[gnu::hot]] ~Held() {
      const bool deferred = !engine_.deferred_.empty();
      engine_.lock_.unlock();
      if (deferred) engine_.run_deferred();
    }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;

   private:
    Engine& engine_;
  };

  class HeldAside {  // the lock; deferred functions are the background thread's
   public:
    explicit HeldAside(Engine& engine) : engine_(engine) { engine.lock_.lock(); }
    ~HeldAside() {
      engine_.activate_background();
      engine_.lock_.unlock();
    }
    HeldAside(const HeldAside&) = delete;
    HeldAside& operator=(const HeldAside&) = delete;

   private:
    Engine& engine_;
  };

  // A thread inside run_deferred().
  struct DeferredRun : base::ListHook<DeferredTag> {
    std::thread::id thread = std::this_thread::get_id();
  };

  // Whoever sleeps for this rank looks again after another thread has done something.
  struct SleeperAlarm {
    explicit SleeperAlarm(Engine& owner) : engine(owner) {}
    ~SleeperAlarm() { engine.wake_sleepers(); }
    SleeperAlarm(const SleeperAlarm&) = delete;
    SleeperAlarm& operator=(const SleeperAlarm&) = delete;
    Engine& engine;
  };

  // What a waiting thread carries from pass to pass.
  struct Watch {
    std::span<Request* const> requests;
    std::chrono::nanoseconds timeout;
    IdlePolicy idle;
    base::Clock::time_point started{};     // zero until the clock is first read
    base::Clock::time_point idle_since{};  // the same, since the last event
    base::Clock::time_point now{};
    base::Clock::time_point yielded{};  // when the last yield was over; zero: none since the last event
    std::optional<base::Clock::time_point> stall_told{};
    bool may_be_helped = false;  // when that was told
    bool stall_warned = false;
  };

  // With the lock held:
  Posted send_held(const SendSpec& spec, bool background) {
    const Posted posted = messenger_.send(spec);
    const bool goes_on = posted.request != nullptr || spec.urgency == Endpoint::Urgency::batch;
    if (goes_on && background) activate_background();
    if (goes_on)
      wake_for_posted();
    else if (has_unsent())
      leave_rest_to_background();
    return posted;
  }
  Posted receive_held(const ReceiveSpec& spec, bool background) {
    const Posted posted = messenger_.receive(spec);
    if (background && posted.request != nullptr && posted.request->state != RequestState::done)
      activate_background();
    wake_for_posted();
    return posted;
  }
  bool wait_held(WaitCondition condition, std::span<Request* const> requests,
                 std::chrono::nanoseconds timeout);
  bool wait_held(Request& request, std::chrono::nanoseconds timeout);

  bool wait_for(WaitCondition condition, std::span<Request* const> requests,
                std::chrono::nanoseconds timeout) {
    const Held held(*this);
    return condition.holds() || wait_held(condition, requests, timeout);
  }
  bool poll_until(WaitCondition condition, Watch& watch);
  bool rest(WaitCondition condition, Watch& watch, std::uint32_t quick_looks);
  [[nodiscard]] base::Clock::time_point end_of_sleep(base::Clock::time_point now,
                                                     std::chrono::nanoseconds longest) const noexcept;
  bool park(Watch& watch);
  void hand_over() noexcept;
  std::size_t advance_agents() noexcept;
  std::size_t look_at_watchers() noexcept;
  // Looks at `awaited` alone first; once `condition` holds, at no further transport: that is a short pass.
  std::size_t poll_once(Endpoint* awaited, const WaitCondition* condition = nullptr,
                        std::uint32_t quick_looks = 0) noexcept;
  std::uint32_t quick_looks(const Endpoint* awaited) const noexcept;
  void give_core_away(Watch& watch);
  void read_clock(Watch& watch) noexcept;
  bool timed_out(const Watch& watch) const noexcept;
  void tick(base::Clock::time_point now) noexcept;
  void expire(base::Clock::time_point now) noexcept;
  bool arm_for_sleep() noexcept;
  void sleep(base::Clock::time_point until);
  void wake_sleepers() noexcept;
  void wake_for_posted() noexcept {
    if (has_listeners()) [[unlikely]]
      wake_sleepers();
  }
  [[nodiscard]] bool has_listeners() const noexcept { return asleep_ || may_announce(); }
  [[nodiscard]] bool may_announce() const noexcept {
    return !waiters_.empty() || event_loop_bell_.may_ring();
  }
  void announce_events() noexcept {
    if (may_announce()) [[unlikely]]
      tell_listeners();
  }
  void tell_listeners() noexcept;
  std::size_t look_once();
  std::size_t look_at_network();
  // relaxed, both: a hint for the background thread; nothing is read because of it.
  void count_poll() noexcept {
    polls_.store(polls_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  // Whether callers have looked since the last time that this was asked.
  [[nodiscard]] bool callers_have_polled(std::uint64_t& seen_polls) const noexcept {
    const std::uint64_t polls = polls_.load(std::memory_order_relaxed);
    return std::exchange(seen_polls, polls) != polls;
  }
  void end_announced_sleep() noexcept;
  void stand_in_for_loop() noexcept;
  void resign() noexcept;
  // Whether something that was sent waits in this process, in a staging buffer or an outbox, because a link
  // is full or not there, or something that is pulled for its turn.
  [[nodiscard]] bool has_unsent() noexcept {
    if (messenger_.is_blocked() || messenger_.is_dialling()) return true;
    return messenger_.link_calls() != calls_without_rest_ && a_transport_has_unsent();
  }
  [[nodiscard]] bool a_transport_has_unsent() noexcept;
  void leave_rest_to_background() noexcept;
  void run_deferred();
  void run_deferred_unlocked();
  void look_for_deadlock(Watch& watch) noexcept;
  void tell_stall(Watch& watch, const Agent::Awaited& awaited) noexcept;
  [[nodiscard]] bool may_be_helped(std::size_t own_functions) noexcept;

  // Called under the lock when an operation was posted whose caller goes away.
  void activate_background() noexcept {
    // relaxed: under the lock; a thread that parks by itself does so under the lock, too.
    if (background_.load(std::memory_order_relaxed) == Background::parked) [[unlikely]]
      wake_background();
  }
  void wake_background() noexcept;
  void stop_background() noexcept;
  void background_main() noexcept;
  void start_background_thread() noexcept;
  void look_in(std::uint64_t& seen_polls) noexcept;
  [[nodiscard]] bool reactor_is_busy(base::Clock::time_point now) const noexcept;
  bool background_turn(std::uint64_t& seen_polls, int& quiet_turns) noexcept;

  const EngineOptions options_;
  const base::ForkGuard fork_guard_;
  socket::Reactor reactor_;
  EngineLock lock_;

  // Below: under the lock.
  Messenger messenger_;
  std::vector<std::unique_ptr<Transport>> transports_;
  bool polling_ = false;                 // some thread is the poller
  bool asleep_ = false;                  // some thread is inside reactor_.sleep()
  bool sleep_announced_ = false;         // progress() armed the reactor for a user's event loop
  bool loop_relies_on_sleeper_ = false;  // it has armed nothing itself, or another thread has taken it over
  // In a row. A partner that always answers at once shall not keep others from being heard for long, and what
  // was announced of a sleep is taken back by a whole pass.
  std::uint32_t short_passes_ = 0;
  static constexpr std::uint32_t most_short_passes = 15;
  EventLoopBell event_loop_bell_;
  base::IntrusiveList<Waiter, WaiterTag> waiters_;  // oldest first
  std::atomic<std::uint64_t> polls_{0};             // whole passes made by callers; written under the lock
  base::Clock::time_point next_reactor_poll_{};
  std::uint64_t seen_reactor_work_ = 0;
  base::Clock::time_point reactor_busy_until_{};  // it has done something a moment ago
  base::Clock::time_point next_tick_{};           // when deadlines are looked at again
  base::Clock::time_point next_expiry_ = base::Clock::time_point::max();
  std::shared_ptr<const void> keeper_;  // see Visit::keep()
  std::size_t kept_for_ = 0;
  std::uint64_t calls_without_rest_ = 0;  // Messenger::link_calls() when the transports had nothing unsent
  bool core_per_rank_ = true;
  LongLooks long_looks_;
  QuickLooks quick_looks_;
  bool left_ = false;
  AgentList agents_;                                             // awake
  AgentList late_agents_;                                        // wake_later()
  WatcherList watchers_;                                         // watch()
  base::IntrusiveList<Deferred, DeferredTag> deferred_;          // due, in the order of their requests' ends
  base::IntrusiveList<DeferredRun, DeferredTag> deferred_runs_;  // under way

  // The background thread; see background.cc.
  enum class Background : std::uint8_t {
    parked,    // nothing is pending; sleeps until activate_background(), but for the pulse
    watching,  // something is pending; looks every now and then whether somebody polls
    stopping,
  };
  std::atomic<Background> background_{Background::parked};
  std::atomic<bool> has_pulse_{false};
  base::Parker background_parker_;
  std::thread background_thread_;
};

}  // namespace parley::transport

#include "transport/engine/visit.h"
