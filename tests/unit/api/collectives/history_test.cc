// Messages of a group's collectives that come too late, or for a call that is another one here.
#include "api/collective/history.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/collective/end_reason.h"
#include "tests/unit/protocol/world_of_messengers.h"

namespace parley::collective {
namespace {

using schedule::Operation;

constexpr std::uint32_t context = 4;  // has notes
constexpr Signature barrier;
constexpr Signature fold{
    .operation = Operation::reduce, .dtype = DType::f32, .reduction = ReduceOp::sum, .root = 0, .count = 8};
constexpr Signature broadcast{.operation = Operation::broadcast, .dtype = DType::f64, .root = 1, .count = 8};

// Rank 1 calls, rank 0 sends.
class Histories : public ::testing::Test {
 protected:
  std::int64_t call_ended(const Signature& signature) {
    const std::int64_t number = history_.begin(signature);
    history_.end(number);
    return number;
  }
  void call_many(std::int64_t count) {
    for (; count > 0; --count) (void)call_ended(barrier);
  }
  // What rank 0 sends in its call of that number.
  void send(std::int64_t number, const Signature& signature, std::uint32_t in = context) {
    const std::vector<std::byte> data(4);
    const auto sent =
        world_.send(0, 1, transport::tag_with_note(number, signature.packed()), data, false, in);
    ASSERT_EQ(sent.status.code(), base::Code::ok);
    world_.settle();
  }
  // What the group's collectives have ended with, if anything.
  std::optional<std::string> end() {
    transport::Messenger& messenger = *world_.messengers[1];
    history_.look_for_strays(messenger);
    const transport::AbortRecord* const record = messenger.abort_record(context);
    if (record == nullptr) return std::nullopt;
    EXPECT_EQ(record->by, 1U);
    const EndReason reason = EndReason::decode(record->reason);
    EXPECT_EQ(reason.kind, EndReason::Kind::mismatched);
    return std::string(reason.text);
  }

  transport::WorldOfMessengers world_{2, {}, {.noted_contexts = 3, .first_group_context = 5}};
  History history_{context};
};

TEST_F(Histories, ACallUnderWayMayBeSentWhatItExpects) {
  send(history_.begin(fold), fold);
  EXPECT_EQ(end(), std::nullopt);
}

TEST_F(Histories, ACallToComeMayBeSentAnything) {
  (void)call_ended(fold);
  send(1, broadcast);
  EXPECT_EQ(end(), std::nullopt);
  (void)history_.begin(broadcast);
  EXPECT_EQ(end(), std::nullopt);
}

TEST_F(Histories, ACallUnderWayThatIsAnotherOneThereEndsTheGroup) {
  send(0, broadcast);
  EXPECT_EQ(end(), std::nullopt) << "not called yet";
  (void)history_.begin(fold);
  EXPECT_EQ(
      end(),
      "rank 0 has called broadcast of f64 from rank 1, rank 1 reduce(sum) of 8 f32 to rank 0 (call 0 of "
      "the group)");
}

// Of which the bits beside a message tell only some.
TEST_F(Histories, TellOfAHighRoot) {
  Signature own = fold;
  own.root = 20'000;
  (void)history_.begin(own);
  send(0, broadcast);
  EXPECT_EQ(
      end(),
      "rank 0 has called broadcast of f64 from rank 1, rank 1 reduce(sum) of 8 f32 to rank 20000 (call 0 of "
      "the group)");
}

// It has received all that it expects.
TEST_F(Histories, ACallThatHasEndedIsSentNothingMore) {
  (void)call_ended(barrier);
  send(call_ended(fold), fold);
  EXPECT_NE(end(), std::nullopt);
}

// Of older ones nothing is known any more.
TEST_F(Histories, OnlyTheLastCallsAreRemembered) {
  (void)call_ended(fold);
  call_many(History::kept);
  send(0, fold);
  EXPECT_EQ(end(), std::nullopt);
  send(1, barrier);
  EXPECT_NE(end(), std::nullopt);
}

TEST_F(Histories, ACallThatHasLastedLongDoesNotEndTheOneInItsPlace) {
  const std::int64_t slow = history_.begin(fold);
  call_many(History::kept - 1);
  send(history_.begin(broadcast), broadcast);
  history_.end(slow);
  EXPECT_EQ(end(), std::nullopt);
}

constexpr std::int64_t numbers = std::int64_t{1} << (63 - transport::note_bits);

TEST_F(Histories, CallsBeforeNumbersBeginAgainAreRemembered) {
  call_many(numbers - 1);
  const std::int64_t last = call_ended(fold);
  EXPECT_EQ(last, numbers - 1);
  EXPECT_EQ(call_ended(broadcast), 0);
  EXPECT_EQ(end(), std::nullopt);
  send(last, fold);
  EXPECT_NE(end(), std::nullopt);
}

TEST_F(Histories, NumbersBeginAgain) {
  call_many(numbers - 1);
  EXPECT_EQ(history_.begin(fold), numbers - 1);
  EXPECT_EQ(call_ended(broadcast), 0);
  send(1, barrier);
  send(numbers - 1, fold);
  EXPECT_EQ(end(), std::nullopt);
  send(0, broadcast);
  EXPECT_NE(end(), std::nullopt);
}

TEST_F(Histories, MessagesOfOtherContextsAreNotItsOwn) {
  send(call_ended(fold), fold, 0);
  EXPECT_EQ(end(), std::nullopt);
}

}  // namespace
}  // namespace parley::collective
