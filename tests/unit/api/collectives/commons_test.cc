// What the ranks of a host show each other, seen by one rank at a time: marks and numbers of calls that
// begin again, ranks ahead and behind, boards that are given back.
#include "api/collective/commons.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "tests/multiprocess/support/random.h"
#include "tests/unit/api/collectives/boards_in_memory.h"
#include "tests/unit/protocol/forged_link.h"
#include "transport/interface/neighbour.h"
#include "transport/protocol/messenger.h"

namespace parley::collective {
namespace {

using schedule::Progress;
using testing::BoardsInMemory;
using testing::Random;

constexpr Commons::Sets stage_sets{.usual = {256, 4}};
constexpr auto entered = static_cast<std::uint64_t>(Progress::entered);
constexpr auto folded = static_cast<std::uint64_t>(Progress::folded);
constexpr auto marks_per_turn = static_cast<std::uint64_t>(schedule::marks_per_turn);

constexpr std::uint64_t mark(std::uint64_t turn, std::uint64_t progress) {
  return turn * marks_per_turn + progress;
}

TEST(CallWord, HasTheNumberModulo256AndTheNote) {
  constexpr std::uint64_t note = note_mask - 5;
  EXPECT_EQ(call_word(7, note), std::uint64_t{7} << transport::note_bits | note);
  EXPECT_EQ(call_word(256 + 7, note), call_word(7, note));
  EXPECT_NE(call_word(255, note), call_word(256, note));
  // Numbers in a group begin again after 2^19: the two ways of counting agree there.
  EXPECT_EQ(call_word(std::int64_t{1} << 19, note), call_word(0, note));
  EXPECT_EQ(call_word(-1, note) & ~call_mask, 0U);
}

// Before it there are as many that anybody may look back at.
constexpr std::uint64_t first_turn = Commons::slots;

TEST(Commons, CountsTurnsFromTheFirstOn) {
  const BoardsInMemory boards(2, stage_sets);
  EXPECT_EQ(boards.of(0).take_turns(3).first_mark, mark(first_turn, 0));
  EXPECT_EQ(boards.of(0).take_turns(1).first_mark, mark(first_turn + 3, 0));
  EXPECT_EQ(boards.of(1).take_turns(1).first_mark, mark(first_turn, 0)) << "each counts for himself";
  for (std::uint64_t before = 0; before < first_turn; ++before) {
    EXPECT_TRUE(boards.of(0).has_reached(1, mark(before, entered))) << "all have entered the turns before";
    EXPECT_EQ(boards.of(0).own_call(mark(before, entered)), 0U) << "as others have";
  }
  EXPECT_FALSE(boards.of(0).has_reached(1, mark(first_turn - 1, folded)));
  EXPECT_FALSE(boards.of(0).has_reached(1, mark(first_turn, entered)));
}

TEST(Commons, GivesAsManyCallsInARowCardsOfTheirOwn) {
  const BoardsInMemory boards(2, stage_sets);
  std::set<std::uint32_t> cards;
  for (int call = 0; call < Commons::slots; ++call) cards.insert(boards.of(0).take_turns(1).card);
  EXPECT_EQ(cards.size(), static_cast<std::size_t>(Commons::slots));
}

TEST(Commons, ComparesTheCallsOfTurnsThatNobodyWaitedFor) {
  for (std::uint64_t other = first_turn; other < first_turn + 4; ++other) {
    const BoardsInMemory boards(2, stage_sets);
    for (std::uint64_t turn = first_turn; turn < first_turn + 6; ++turn) {
      boards.of(0).publish(mark(turn, entered), call_word(1, 5));
      boards.of(1).publish(mark(turn, entered), call_word(1, turn == other ? 6 : 5));
    }
    EXPECT_TRUE(boards.of(0).has_reached(1, mark(first_turn + 4, entered)));
    ASSERT_TRUE(boards.of(0).stray().has_value());
    EXPECT_EQ(boards.of(0).stray()->rank, 1U);
    EXPECT_EQ(boards.of(0).stray()->call, call_word(1, 6));
    EXPECT_FALSE(boards.of(0).is_in_step(1, mark(first_turn + 4, entered), call_word(1, 5)));
  }
}

TEST(Commons, RemembersThatAllHaveCome) {
  const BoardsInMemory boards(2, stage_sets);
  Commons& commons = boards.of(0);
  EXPECT_FALSE(commons.all_have_reached(mark(1, entered)));
  commons.note_all(mark(1, entered));
  EXPECT_TRUE(commons.all_have_reached(mark(1, entered)));
  EXPECT_TRUE(commons.all_have_reached(mark(0, entered)));
  EXPECT_FALSE(commons.all_have_reached(mark(1, folded)));
}

TEST(Commons, TellsOfACallThatNobodyHereHasMade) {
  const BoardsInMemory boards(2, stage_sets);
  Commons& ahead = boards.of(1);
  Commons& commons = boards.of(0);
  for (std::int64_t number = 0; number < 3000; ++number) {
    EXPECT_EQ(commons.next_call(1), std::nullopt) << number;
    const std::uint64_t base = ahead.take_turns(1).first_mark;
    ahead.publish(base + entered, call_word(number, 5));
    EXPECT_EQ(commons.next_call(1), std::optional(call_word(number, 5)));
    EXPECT_EQ(commons.take_turns(1).first_mark, base);
    commons.publish(base + entered, call_word(number, 5));
    EXPECT_EQ(commons.call_of(1, base + entered), std::optional(call_word(number, 5)));
    EXPECT_TRUE(commons.is_in_step(1, base + entered, call_word(number, 5)));
    EXPECT_FALSE(commons.is_in_step(1, base + entered, call_word(number, 6)));
    EXPECT_TRUE(commons.is_in_step(1, base - 1, call_word(number, 6))) << "it is in a later turn";
  }
}

TEST(Commons, GivesItsBoardBackWhenAllOthersHaveLeftOrEnded) {
  const BoardsInMemory boards(4, stage_sets);
  transport::Messenger messenger({.self = 0, .peer_count = 4});
  EXPECT_FALSE(boards.of(0).is_unread(messenger));
  boards.of(0).leave();
  EXPECT_FALSE(boards.of(0).is_unread(messenger)) << "one's own leaving is not asked for";
  boards.of(1).leave();
  messenger.peer(2).state = transport::PeerState::down;
  EXPECT_FALSE(boards.of(0).is_unread(messenger));
  messenger.peer(3).state = transport::PeerState::up;
  EXPECT_FALSE(boards.of(0).is_unread(messenger));
  messenger.peer(3).state = transport::PeerState::left;
  EXPECT_TRUE(boards.of(0).is_unread(messenger));
  messenger.peer(3).state = transport::PeerState::up;
  boards.of(3).leave();
  EXPECT_TRUE(boards.of(0).is_unread(messenger));
}

// Each rank finds out by itself, and the first to do so uses its memory again.
TEST(Commons, WhoHasLeftHasDoneSoThoughHisBoardIsAnotherOneNow) {
  const BoardsInMemory boards(2, stage_sets);
  const transport::Messenger messenger({.self = 0, .peer_count = 2});
  boards.of(1).leave();
  Commons::prepare(boards.memory(1));
  EXPECT_TRUE(boards.of(0).is_unread(messenger));
  std::fill_n(boards.memory(1), 256, std::byte{0});
  EXPECT_TRUE(boards.of(0).is_unread(messenger)) << "it is a tensor now";
}

// By who has no Commons of it, for the ranks have not all met.
TEST(Commons, ABoardIsLeftWithoutThem) {
  const BoardsInMemory boards(2, stage_sets);
  const transport::Messenger messenger({.self = 0, .peer_count = 2});
  EXPECT_FALSE(boards.of(0).is_unread(messenger));
  Commons::leave(boards.memory(1));
  EXPECT_TRUE(boards.of(0).is_unread(messenger));
}

// Whose bell alone is of interest.
class Sleeper final : public transport::Neighbour {
 public:
  [[nodiscard]] std::optional<transport::RemoteKey> key_of(base::ConstMemoryRef) const noexcept override {
    return std::nullopt;
  }
  Sight show(base::ConstMemoryRef) noexcept override { return Sight::refuses; }
  [[nodiscard]] std::shared_ptr<const std::byte> look(const transport::RemoteKey&,
                                                      std::size_t) const noexcept override {
    return nullptr;
  }
  [[nodiscard]] std::optional<transport::RemoteKey> key_for_copies(
      base::ConstMemoryRef) const noexcept override {
    return std::nullopt;
  }
  [[nodiscard]] bool may_copy() noexcept override { return false; }
  base::Status copy(const transport::RemoteKey&, std::size_t, base::MemoryRef) noexcept override {
    return base::Code::unreachable;
  }
  void ring_after_fence() noexcept override { ++rings; }
  [[nodiscard]] std::shared_ptr<const std::atomic<std::uint32_t>> sleep_word() const noexcept override {
    return word_;
  }

  int rings = 0;

 private:
  std::shared_ptr<const std::atomic<std::uint32_t>> word_ =
      std::make_shared<const std::atomic<std::uint32_t>>(1);
};

TEST(Commons, RingForThoseWhoSleepAsLongAsTheyHaveALink) {
  const BoardsInMemory boards(4, stage_sets);
  transport::Messenger messenger({.self = 0, .peer_count = 4});
  std::array<Sleeper, 4> others;
  std::array<transport::ForgedLink, 4> links;
  for (const transport::PeerId peer : {1U, 2U}) {
    links[peer].neighbour = &others[peer];
    messenger.on_link(peer, links[peer]);
  }
  boards.fall_asleep(2);
  boards.fall_asleep(3);  // and has no link
  boards.of(0).ring(messenger);
  EXPECT_EQ(others[1].rings, 0);
  EXPECT_EQ(others[2].rings, 1);
  messenger.on_closed(links[2], base::Code::peer_died);
  boards.of(0).ring(messenger);
  EXPECT_EQ(others[2].rings, 1) << "its word has stayed";
}

// As a neighbour might write where its mark belongs: from anywhere, and of any call.
TEST(Commons, TakeForgedWordsForMarks) {
  Random random(7);
  int believed = 0, strays = 0;
  for (int round = 0; round < 4000; ++round) {
    const BoardsInMemory boards(2, stage_sets);
    Commons& own = boards.of(0);
    const auto forge = [&](std::uint64_t turn, std::uint64_t of, std::uint64_t call) {
      const std::uint64_t word = of << call_bits | call;
      std::byte* const slot = own.line(1, turn) - offsetof(BoardSlot, line);
      std::memcpy(slot + offsetof(BoardSlot, word), &word, sizeof word);
    };
    std::optional<std::uint64_t> other_call;
    const std::uint64_t last = first_turn + random.below(Commons::slots);
    for (std::uint64_t turn = first_turn; turn <= last; ++turn) {
      const std::uint64_t call = random.next() & call_mask;
      own.publish(own.take_turns(1).first_mark + entered, call);
      if (turn == last || random.one_in(2)) continue;
      const bool is_other = random.one_in(4);
      if (is_other) other_call = call ^ (1 + random.below(call_mask));
      forge(turn, mark(turn, entered), is_other ? *other_call : call);
    }
    const std::uint64_t wanted = mark(last, entered);
    const auto ahead = static_cast<std::int64_t>(random.below(4001)) - 2000;
    const std::uint64_t told = wanted + static_cast<std::uint64_t>(ahead);
    const std::uint64_t call = random.next() & call_mask;
    forge(last, told, call);
    ASSERT_EQ(own.has_reached(1, wanted), ahead >= 0) << ahead;
    if (ahead < 0) continue;
    ++believed;
    const bool is_there = Commons::turn_of(told) == last;
    EXPECT_EQ(own.call_of(1, wanted), is_there ? std::optional(call) : std::nullopt);
    ASSERT_EQ(own.stray().has_value(), other_call.has_value());
    if (!other_call) continue;
    ++strays;
    EXPECT_EQ(own.stray()->rank, 1U);
    EXPECT_EQ(own.stray()->call, *other_call) << "the last one";
  }
  EXPECT_GT(believed, 1000);
  EXPECT_GT(strays, 100);
}

// A random program, turn by turn: the call it belongs to, and whether ranks tell a second mark in it.
struct PlannedTurn {
  std::uint64_t call = 0;
  bool folds = false;
};

std::vector<PlannedTurn> random_turns(std::size_t count, Random& random) {
  std::vector<PlannedTurn> turns(first_turn);  // which all have entered
  for (std::int64_t number = 0; turns.size() < count; ++number) {
    const PlannedTurn turn{call_word(number, random.next() & note_mask), random.one_in(2)};
    turns.insert(turns.end(), 1 + random.below(4), turn);
  }
  return turns;
}

class RandomTurns : public ::testing::TestWithParam<std::uint32_t> {
 protected:
  static constexpr std::size_t turn_count = 6000;
  static constexpr std::uint64_t most_ahead = 300;  // 512 turns are half of all marks that can be told apart

  // Tells the next mark of a rank.
  void go_on(std::uint32_t rank) {
    const std::uint64_t turn = turn_of(told_[rank]);
    const bool folds_now = told_[rank] % marks_per_turn == entered && turns_[turn].folds;
    if (!folds_now) {
      EXPECT_EQ(boards_.of(rank).take_turns(1).first_mark, mark(turn + 1, 0));
    }
    told_[rank] = folds_now ? mark(turn, folded) : mark(turn + 1, entered);
    boards_.of(rank).publish(told_[rank], turns_[turn_of(told_[rank])].call);
    EXPECT_EQ(boards_.of(rank).own_call(told_[rank]), turns_[turn_of(told_[rank])].call);
    for (std::uint64_t before = 0; before + 1 < first_turn; ++before)
      EXPECT_EQ(boards_.of(rank).own_call(mark(turn - before, entered)), turns_[turn - before].call);
  }

  // What `reader` is told of another rank about a mark, against what that rank has told.
  void look(std::uint32_t reader, std::uint32_t other, std::uint64_t wanted) {
    Commons& commons = boards_.of(reader);
    const bool has_come = commons.has_reached(other, wanted);
    ASSERT_EQ(has_come, told_[other] >= wanted) << wanted << " of " << told_[other];
    if (!has_come) return;
    const auto call = commons.call_of(other, wanted);
    if (turn_of(told_[other]) == turn_of(wanted)) {
      ASSERT_TRUE(call.has_value()) << "it is in this very turn";
    }
    if (call) {
      ASSERT_EQ(*call, turns_[turn_of(wanted)].call);
    }
  }

  // In the turn that `reader` has not taken yet.
  void look_ahead(std::uint32_t reader, std::uint32_t other) {
    const std::uint64_t next = turn_of(told_[reader]) + 1;
    const auto call = boards_.of(reader).next_call(other);
    if (turn_of(told_[other]) < next) {
      ASSERT_EQ(call, std::nullopt);
    }
    if (turn_of(told_[other]) == next) {
      ASSERT_EQ(call, std::optional(turns_[next].call));
    }
    if (call) {
      ASSERT_EQ(*call, turns_[next].call);
    }
  }

  static std::uint64_t turn_of(std::uint64_t of) { return Commons::turn_of(of); }

  Random random_{GetParam()};
  const BoardsInMemory boards_{GetParam(), stage_sets};
  const std::vector<PlannedTurn> turns_ = random_turns(turn_count, random_);
  std::vector<std::uint64_t> told_ = std::vector<std::uint64_t>(GetParam(), mark(first_turn - 1, entered));
};
INSTANTIATE_TEST_SUITE_P(OfSoManyRanks, RandomTurns, ::testing::Values(2, 3, 4));

// The marks of 6000 turns, of which 1024 can be told apart, and the numbers of some 2400 calls, of 256.
TEST_P(RandomTurns, AreSeenAsTheyWereTold) {
  const std::uint32_t ranks = GetParam();
  for (std::uint64_t slowest = first_turn - 1; slowest + 2 < turn_count && !HasFatalFailure();) {
    const auto rank = static_cast<std::uint32_t>(random_.below(ranks));
    const std::uint64_t most = slowest + (random_.one_in(50) ? most_ahead : 2);
    for (std::size_t steps = random_.below(random_.one_in(20) ? 400 : 4); steps > 0; --steps)
      if (turn_of(told_[rank]) < std::min<std::uint64_t>(most, turn_count - 1)) go_on(rank);
    slowest = turn_of(*std::min_element(told_.begin(), told_.end()));
    const auto reader = static_cast<std::uint32_t>(random_.below(ranks));
    const auto other = static_cast<std::uint32_t>((reader + 1 + random_.below(ranks - 1)) % ranks);
    look_ahead(reader, other);
    // The turn the reader is in, the one before, the last one that it looks back at, and the one in which the
    // slowest is.
    const std::uint64_t now = turn_of(told_[reader]);
    for (const std::uint64_t turn : {now, now - 1, now - first_turn + 1, slowest}) {
      if (turn >= turn_count) continue;
      if (turns_[turn].folds) look(reader, other, mark(turn, folded));
      look(reader, other, mark(turn, entered));
    }
  }
}

}  // namespace
}  // namespace parley::collective
