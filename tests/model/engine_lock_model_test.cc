// Every interleaving of the engine's lock (transport/engine/engine_lock.h) with three threads, of whom one
// may only try, and any may become the owner, with the store buffers of x86. A rule left out makes the model
// find two holders.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

namespace parley::transport {
namespace {

constexpr std::size_t the_last = 2;
constexpr std::size_t thread_count = 3;
constexpr std::size_t buffer_size = 3;

struct Rules {
  bool has_barrier = true;
  bool waits_for_inside = true;
  bool waits_without_owner = true;  // for one whom somebody else disowned
  bool looks_again = true;          // the owner, once it has said that it is inside
  bool owns_after_disowned = true;  // nobody does before the one who was disowned has come again
  bool last_one_tries = true;
};

// The words of the lock in memory. `owner` is 0 or the name of a thread: 1 + its place.
enum Word : std::uint8_t { state, inside, owner, word_count };
constexpr std::uint8_t name_of(std::size_t thread) noexcept {
  return static_cast<std::uint8_t>(thread + 1);
}

struct Store {
  Word word{};
  std::uint8_t value = 0;
};

struct Thread {
  enum Step : std::uint8_t {
    rests,
    says_inside,  // as the owner, as the next one
    looks,
    takes,  // `state`, and so on
    reads_owner,
    disowns,
    fences,
    waits,
    in_section,
  };
  Step step = rests;
  bool as_owner = false;
  std::uint8_t times = 0;  // that it was in its section, or tried in vain
  std::uint8_t buffered = 0;
  std::array<Store, buffer_size> buffer{};  // the oldest first
};

struct State {
  std::array<std::uint8_t, word_count> memory{0, 0, name_of(0)};
  std::uint8_t disowned = 0;  // a name; touched by the holder of `state` alone
  std::array<Thread, thread_count> threads;

  [[nodiscard]] std::string key() const {
    std::string key;
    const auto add = [&key](unsigned value) { key.push_back(static_cast<char>(value)); };
    for (const std::uint8_t value : memory) add(value);
    add(disowned);
    for (const Thread& thread : threads) {
      add(thread.step * 2U + (thread.as_owner ? 1U : 0U));
      add(thread.times * 4U + thread.buffered);
      for (std::size_t i = 0; i < thread.buffered; ++i)
        add(thread.buffer[i].word * 4U + thread.buffer[i].value);
    }
    return key;
  }
};

struct Findings {
  std::size_t states = 0;
  bool two_inside = false;
  bool owner_was_waited_for = false;
  bool owner_was_turned_away = false;
  bool tried_in_vain = false;
  bool another_owned = false;
  bool over = false;
};

class Exploration {
 public:
  explicit Exploration(const Rules& rules) : rules_(rules) {}

  Findings run() {
    reach(State{});
    while (!open_.empty()) {
      const State now = open_.back();
      open_.pop_back();
      examine(now);
      for (std::size_t i = 0; i < now.threads.size(); ++i) {
        drain(now, i);
        step(now, i);
      }
    }
    findings_.states = seen_.size();
    return findings_;
  }

 private:
  static constexpr std::uint8_t times_each = 2;

  void reach(const State& next) {
    if (seen_.insert(next.key()).second) open_.push_back(next);
  }

  void examine(const State& now) {
    std::size_t holders = 0;
    bool all_over = true;
    for (const Thread& thread : now.threads) {
      holders += thread.step == Thread::in_section ? 1 : 0;
      all_over = all_over && thread.times == times_each;
    }
    findings_.two_inside = findings_.two_inside || holders > 1;
    findings_.over = findings_.over || all_over;
  }

  // What this thread reads: its own latest store that has not left, or memory.
  static std::uint8_t load(const State& now, std::size_t thread, Word word) {
    const Thread& own = now.threads[thread];
    for (std::size_t i = own.buffered; i-- > 0;)
      if (own.buffer[i].word == word) return own.buffer[i].value;
    return now.memory[word];
  }

  // The next state with this store in the thread's buffer. False: there is no room, it has to wait.
  static bool store(State& next, std::size_t thread, Word word, std::uint8_t value) {
    Thread& own = next.threads[thread];
    if (own.buffered == buffer_size) return false;
    own.buffer[own.buffered++] = {word, value};
    return true;
  }

  // The oldest store leaves.
  void drain(const State& now, std::size_t thread) {
    if (now.threads[thread].buffered == 0) return;
    State next = now;
    drain_one(next, thread);
    reach(next);
  }
  static void drain_one(State& next, std::size_t thread) {
    Thread& own = next.threads[thread];
    next.memory[own.buffer[0].word] = own.buffer[0].value;
    for (std::size_t i = 1; i < own.buffered; ++i) own.buffer[i - 1] = own.buffer[i];
    --own.buffered;
  }
  static void drain_all(State& next, std::size_t thread) {
    while (next.threads[thread].buffered != 0) drain_one(next, thread);
  }

  void step(const State& now, std::size_t thread) {
    State next = now;
    Thread& own = next.threads[thread];
    switch (own.step) {
      case Thread::rests:
        if (own.times == times_each) return;
        own.as_owner = load(now, thread, owner) == name_of(thread);
        own.step = own.as_owner ? Thread::says_inside : Thread::takes;
        break;
      case Thread::says_inside:
        if (!store(next, thread, inside, 1)) return;
        own.step = rules_.looks_again ? Thread::looks : Thread::in_section;
        break;
      case Thread::looks:
        if (load(now, thread, owner) == name_of(thread)) {
          findings_.another_owned = findings_.another_owned || thread != 0;
          own.step = Thread::in_section;
          break;
        }
        findings_.owner_was_turned_away = true;
        if (!store(next, thread, inside, 0)) return;
        own.as_owner = false;
        own.step = Thread::takes;
        break;
      case Thread::takes:  // a locked instruction
        drain_all(next, thread);
        if (next.memory[state] != 0) return;
        next.memory[state] = 1;
        own.step = Thread::reads_owner;
        break;
      case Thread::reads_owner:
        if (const std::uint8_t found = load(now, thread, owner); found != 0) {
          next.disowned = found;
          own.step = Thread::disowns;
        } else if (rules_.waits_without_owner) {
          own.step = Thread::waits;
        } else {
          get_in(next, thread);
        }
        break;
      case Thread::disowns:
        if (!store(next, thread, owner, 0)) return;
        own.step = rules_.has_barrier ? Thread::fences : Thread::waits;
        break;
      case Thread::fences:  // on every core
        for (std::size_t i = 0; i < next.threads.size(); ++i) drain_all(next, i);
        own.step = Thread::waits;
        break;
      case Thread::waits:
        if (!rules_.waits_for_inside || load(now, thread, inside) == 0) {
          get_in(next, thread);
          break;
        }
        if (thread != the_last || !rules_.last_one_tries) {
          findings_.owner_was_waited_for = true;
          return;
        }
        findings_.tried_in_vain = true;
        if (!store(next, thread, state, 0)) return;
        ++own.times;
        own.step = Thread::rests;
        break;
      case Thread::in_section:
        if (!store(next, thread, own.as_owner ? inside : state, 0)) return;
        ++own.times;
        own.step = Thread::rests;
        break;
    }
    reach(next);
  }

  // By `state`. Whether it becomes the owner is left open: both are looked at.
  void get_in(State& next, std::size_t thread) {
    if (next.disowned == name_of(thread)) next.disowned = 0;
    next.threads[thread].step = Thread::in_section;
    if (next.disowned != 0 && rules_.owns_after_disowned) return;
    State owns = next;
    if (store(owns, thread, owner, name_of(thread))) reach(owns);
  }

  const Rules rules_;
  std::unordered_set<std::string> seen_;
  std::vector<State> open_;
  Findings findings_;
};

TEST(EngineLockModel, NoTwoThreadsHoldIt) {
  for (const bool tries : {false, true}) {
    const Findings findings = Exploration({.last_one_tries = tries}).run();
    EXPECT_FALSE(findings.two_inside);
    EXPECT_TRUE(findings.over);
    EXPECT_TRUE(findings.owner_was_waited_for) << "the model has to come to where it matters";
    EXPECT_TRUE(findings.owner_was_turned_away);
    EXPECT_EQ(findings.tried_in_vain, tries);
    EXPECT_TRUE(findings.another_owned);
  }
}

TEST(EngineLockModel, NeedsTheBarrierOfWhoTakesItFromItsOwner) {
  EXPECT_TRUE(Exploration({.has_barrier = false}).run().two_inside);
}

TEST(EngineLockModel, NeedsTheWaitForTheOwner) {
  EXPECT_TRUE(Exploration({.waits_for_inside = false}).run().two_inside);
}

// Who tries in vain leaves a lock that has no owner, and the one who was it inside.
TEST(EngineLockModel, NeedsTheWaitForOneWhomSomebodyElseDisowned) {
  EXPECT_TRUE(Exploration({.waits_without_owner = false}).run().two_inside);
}

// It may be about to say that it is inside, and then that it is not: while another one is.
TEST(EngineLockModel, NeedsTheDisownedToComeAgainBeforeAnotherOneOwns) {
  EXPECT_TRUE(Exploration({.owns_after_disowned = false}).run().two_inside);
}

TEST(EngineLockModel, NeedsTheOwnersSecondLook) {
  EXPECT_TRUE(Exploration({.looks_again = false}).run().two_inside);
}

}  // namespace
}  // namespace parley::transport
