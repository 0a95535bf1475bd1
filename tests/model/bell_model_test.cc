// Every interleaving of the doorbell between processes (transport/shm/bell.h): two writers of two records
// each, and a sleeper, with the store buffers of x86. A fence that is left out makes the model find the
// lost wake-up.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <unordered_set>
#include <vector>

namespace parley::transport::shm {
namespace {

constexpr std::size_t writer_count = 2;
constexpr std::uint8_t records_each = 2;

struct Rules {
  bool writer_fences = true;
  bool writer_batches = false;  // looks after one or more records, and not after each
  bool sleeper_fences = true;
  enum class Clears { when_awake, before_sleep } clears = Clears::when_awake;
  bool looks_after_announcing = true;
};

struct Writer {
  enum Step : std::uint8_t { rests, fences, loads, exchanges, signals };
  Step step = rests;
  std::uint8_t stored = 0;   // records, some of them in the store buffer
  std::uint8_t visible = 0;  // those that have left it
  bool owes_look = false;    // has published since it looked at the word
  [[nodiscard]] bool drained() const { return stored == visible; }
};

struct Sleeper {
  enum Step : std::uint8_t {
    announces,
    fences,
    looks,        // at one writer after the other
    clears_late,  // what the code does not do: see Rules
    sleeps,
    cancels,
    clears,
    consumes,  // from one writer after the other
  };
  Step step = announces;
  std::uint8_t turn = 0;  // of the writer
  std::array<std::uint8_t, writer_count> consumed{};
  std::uint8_t buffered = 0;  // stores to the word that have not left
  std::uint8_t values = 0;    // one bit each, the oldest lowest
};

struct State {
  std::array<Writer, writer_count> writers;
  Sleeper sleeper;
  bool asleep = false;  // the word
  bool event = false;   // the eventfd is readable

  [[nodiscard]] std::uint64_t key() const {
    std::uint64_t key = 0;
    const auto add = [&key](unsigned value, unsigned bits) { key = key << bits | value; };
    for (const Writer& writer : writers) {
      add(writer.step, 3);
      add(writer.stored, 2);
      add(writer.visible, 2);
      add(writer.owes_look, 1);
    }
    add(sleeper.step, 4);
    add(sleeper.turn, 2);
    for (const std::uint8_t count : sleeper.consumed) add(count, 2);
    add(sleeper.buffered, 2);
    add(sleeper.values, 3);
    add(asleep, 1);
    add(event, 1);
    return key;
  }

  // Asleep for ever, with something to read.
  [[nodiscard]] bool is_lost() const {
    if (sleeper.step != Sleeper::sleeps || event) return false;
    bool has_unread = false;
    for (std::size_t i = 0; i < writer_count; ++i) {
      const Writer& writer = writers[i];
      if (writer.step != Writer::rests || writer.owes_look || !writer.drained()) return false;
      has_unread = has_unread || writers[i].visible > sleeper.consumed[i];
    }
    return has_unread;
  }
  [[nodiscard]] bool is_over() const {
    for (const std::uint8_t count : sleeper.consumed)
      if (count != records_each) return false;
    return true;
  }
};

struct Findings {
  std::size_t states = 0;
  bool slept = false;         // with nothing to read
  bool rung = false;          // woken by a writer
  bool rung_in_vain = false;  // a late signal
  bool over = false;          // all was read
  bool lost = false;
};

class Exploration {
 public:
  explicit Exploration(const Rules& rules) : rules_(rules) {}

  Findings run() {
    reach(State{});
    while (!open_.empty()) {
      const State state = open_.back();
      open_.pop_back();
      examine(state);
      for (std::size_t i = 0; i < writer_count; ++i) step_writer(state, i);
      drain(state);
      step_sleeper(state);
    }
    findings_.states = seen_.size();
    return findings_;
  }

 private:
  static constexpr std::uint8_t store_buffer_size = 3;

  void reach(const State& state) {
    if (seen_.insert(state.key()).second) open_.push_back(state);
  }

  void examine(const State& state) {
    findings_.lost = findings_.lost || state.is_lost();
    findings_.over = findings_.over || state.is_over();
    if (state.sleeper.step != Sleeper::sleeps) return;
    findings_.slept = findings_.slept || !state.event;
    if (!state.event) return;
    bool has_unread = false;
    for (std::size_t i = 0; i < writer_count; ++i)
      has_unread = has_unread || state.writers[i].visible > state.sleeper.consumed[i];
    (has_unread ? findings_.rung : findings_.rung_in_vain) = true;
  }

  // Stores leave their buffers whenever they like, in order.
  void drain(const State& state) {
    for (std::size_t i = 0; i < writer_count; ++i) {
      if (state.writers[i].drained()) continue;
      State next = state;
      ++next.writers[i].visible;
      reach(next);
    }
    if (state.sleeper.buffered == 0) return;
    State next = state;
    next.asleep = (next.sleeper.values & 1) != 0;
    next.sleeper.values >>= 1;
    --next.sleeper.buffered;
    reach(next);
  }

  [[nodiscard]] Writer::Step first_step_of_look() const {
    return rules_.writer_fences ? Writer::fences : Writer::loads;
  }

  void step_writer(const State& state, std::size_t index) {
    State next = state;
    Writer& writer = next.writers[index];
    switch (writer.step) {
      case Writer::rests:
        if (writer.owes_look) {  // it may look now, or publish more before
          State looking = state;
          looking.writers[index].step = first_step_of_look();
          reach(looking);
        }
        if (writer.stored == records_each) return;
        ++writer.stored;
        writer.owes_look = true;
        if (!rules_.writer_batches) writer.step = first_step_of_look();
        break;
      case Writer::fences:
        if (!writer.drained()) return;
        writer.step = Writer::loads;
        break;
      case Writer::loads:
        writer.owes_look = false;
        writer.step = state.asleep ? Writer::exchanges : Writer::rests;
        break;
      case Writer::exchanges:
        if (!writer.drained()) return;  // a locked instruction
        writer.step = state.asleep ? Writer::signals : Writer::rests;
        next.asleep = false;
        break;
      case Writer::signals:
        next.event = true;
        writer.step = Writer::rests;
        break;
    }
    reach(next);
  }

  // Whether there was room.
  static bool store(Sleeper& sleeper, bool asleep) {
    if (sleeper.buffered == store_buffer_size) return false;
    sleeper.values = static_cast<std::uint8_t>(sleeper.values | (asleep ? 1U << sleeper.buffered : 0U));
    ++sleeper.buffered;
    return true;
  }

  // To the next writer, or else to `then`.
  static void pass_on(Sleeper& sleeper, Sleeper::Step then) {
    if (++sleeper.turn < writer_count) return;
    sleeper.turn = 0;
    sleeper.step = then;
  }

  [[nodiscard]] Sleeper::Step after_look() const {
    if (!rules_.looks_after_announcing) return Sleeper::announces;
    return rules_.clears == Rules::Clears::before_sleep ? Sleeper::clears_late : Sleeper::sleeps;
  }
  [[nodiscard]] Sleeper::Step after_fence() const {
    return rules_.looks_after_announcing ? Sleeper::looks : Sleeper::sleeps;
  }

  void step_sleeper(const State& state) {
    State next = state;
    Sleeper& sleeper = next.sleeper;
    const std::size_t turn = sleeper.turn;
    switch (sleeper.step) {
      case Sleeper::announces:
        if (!store(sleeper, true)) return;
        sleeper.step = rules_.sleeper_fences ? Sleeper::fences : after_fence();
        break;
      case Sleeper::fences:
        if (sleeper.buffered != 0) return;
        sleeper.step = after_fence();
        break;
      case Sleeper::looks:
        if (state.writers[turn].visible > sleeper.consumed[turn]) {
          sleeper.turn = 0;
          sleeper.step = Sleeper::cancels;
        } else {
          pass_on(sleeper, after_look());
        }
        break;
      case Sleeper::clears_late:
        next.event = false;
        sleeper.step = Sleeper::sleeps;
        break;
      case Sleeper::sleeps:
        // Something else may wake it as well: a socket, a timer. That is no excuse for a lost wake-up.
        sleeper.step = Sleeper::cancels;
        break;
      case Sleeper::cancels:
        if (!store(sleeper, false)) return;
        sleeper.step = rules_.clears == Rules::Clears::when_awake ? Sleeper::clears : Sleeper::consumes;
        break;
      case Sleeper::clears:
        next.event = false;
        sleeper.step = Sleeper::consumes;
        break;
      case Sleeper::consumes:
        sleeper.consumed[turn] = state.writers[turn].visible;
        pass_on(sleeper, rules_.looks_after_announcing ? Sleeper::announces : Sleeper::looks);
        break;
    }
    reach(next);
  }

  const Rules rules_;
  std::unordered_set<std::uint64_t> seen_;
  std::vector<State> open_;
  Findings findings_;
};

Findings explore(const Rules& rules) {
  return Exploration(rules).run();
}

// The model saw what there is to see.
void expect_thorough(const Findings& findings) {
  EXPECT_TRUE(findings.slept);
  EXPECT_TRUE(findings.rung);
  EXPECT_TRUE(findings.rung_in_vain);
  EXPECT_TRUE(findings.over);
  EXPECT_GT(findings.states, 1000U);
}

TEST(BellModel, WithAFenceOnEachSideNoWakeUpIsLost) {
  const Findings findings = explore({});
  EXPECT_FALSE(findings.lost);
  expect_thorough(findings);
}

TEST(BellModel, OneFenceAndOneLookDoForSeveralRecords) {
  const Findings findings = explore({.writer_batches = true});
  EXPECT_FALSE(findings.lost);
  expect_thorough(findings);
}

TEST(BellModel, WithoutTheWritersFenceAWakeUpIsLost) {
  EXPECT_TRUE(explore({.writer_fences = false}).lost);
  EXPECT_TRUE(explore({.writer_fences = false, .writer_batches = true}).lost);
}

TEST(BellModel, WithoutTheSleepersFenceAWakeUpIsLost) {
  EXPECT_TRUE(explore({.sleeper_fences = false}).lost);
}

TEST(BellModel, WhoLooksBeforeAnnouncingLosesAWakeUp) {
  EXPECT_TRUE(explore({.looks_after_announcing = false}).lost);
}

TEST(BellModel, WhoClearsTheEventBeforeTheSleepLosesAWakeUp) {
  EXPECT_TRUE(explore({.clears = Rules::Clears::before_sleep}).lost);
}

}  // namespace
}  // namespace parley::transport::shm
