#include "transport/engine/idle_policy.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>

namespace parley::transport {
namespace {

using Step = IdlePolicy::Step;

constexpr std::chrono::nanoseconds one_ns{1};

// A step of a wait, and the yield if it is one.
Step take(IdlePolicy& policy, std::chrono::nanoseconds away = IdlePolicy::short_yield) {
  const Step step = policy.next({});
  if (step == Step::yield) policy.note_yield(away);
  return step;
}

// How many steps in a row are `step`; the one after them is taken, too.
std::uint32_t count(IdlePolicy& policy, Step step, std::chrono::nanoseconds away = IdlePolicy::short_yield) {
  std::uint32_t steps = 0;
  while (take(policy, away) == step) ++steps;
  return steps;
}

// Whether the wait begins with a long look. It is left in its first step.
bool looks_long(IdlePolicy& policy) {
  return policy.next({}) == Step::poll;
}

// Waits that nobody answers before they sleep. Returns how many of them looked long.
std::uint32_t failing_waits(LongLooks& looks, std::uint32_t waits) {
  std::uint32_t long_ones = 0;
  for (std::uint32_t wait = 0; wait < waits; ++wait) {
    IdlePolicy policy(false, looks);
    if (looks_long(policy)) ++long_ones;
    while (take(policy) != Step::sleep) {
    }
  }
  return long_ones;
}

// Waits that are answered after `polls` empty ones. Returns how many of them looked long.
std::uint32_t answered_waits(LongLooks& looks, std::uint32_t waits, std::uint32_t polls) {
  std::uint32_t long_ones = 0;
  for (std::uint32_t wait = 0; wait < waits; ++wait) {
    IdlePolicy policy(false, looks);
    if (looks_long(policy)) ++long_ones;
    for (std::uint32_t poll = 1; poll < polls; ++poll) take(policy);
    policy.reset();
  }
  return long_ones;
}

TEST(IdlePolicy, WithACoreItPollsUntilItsBudgetIsSpent) {
  LongLooks looks;
  IdlePolicy policy(true, looks);
  for (std::uint32_t poll = 1; poll < IdlePolicy::looks_per_clock; ++poll)
    ASSERT_EQ(policy.next({}), Step::poll);
  EXPECT_EQ(policy.next({}), Step::clock);
  const auto less = IdlePolicy::spin_budget - std::chrono::nanoseconds(1);
  for (std::uint32_t poll = 1; poll < IdlePolicy::looks_per_clock; ++poll)
    ASSERT_EQ(policy.next(less), Step::poll);
  EXPECT_EQ(policy.next(less), Step::clock);
  EXPECT_EQ(policy.next(IdlePolicy::spin_budget), Step::sleep);
  EXPECT_EQ(policy.next(IdlePolicy::spin_budget), Step::sleep) << "a sleep that ended for nothing is resumed";
  policy.reset();
  EXPECT_EQ(policy.next({}), Step::poll);
}

TEST(IdlePolicy, PairsOfQuickLooksCountWhereTheClockIsDue) {
  LongLooks looks;
  IdlePolicy policy(true, looks);
  std::uint32_t polls = 1;
  while (policy.next({}, 8) == Step::poll) ++polls;
  EXPECT_EQ(polls, IdlePolicy::looks_per_clock / 5);
}

TEST(IdlePolicy, WithoutACoreItYieldsAtOnceABoundedNumberOfTimes) {
  LongLooks looks;
  IdlePolicy policy(false, looks);
  EXPECT_EQ(count(policy, Step::yield), IdlePolicy::oversubscribed_yields);
  EXPECT_EQ(policy.next({}), Step::sleep);
  EXPECT_EQ(policy.next({}), Step::sleep);
  policy.reset();
  EXPECT_EQ(policy.next({}), Step::yield) << "waiting starts over";
}

TEST(IdlePolicy, AFewYieldsToWhatComputesAreEnough) {
  LongLooks looks;
  IdlePolicy policy(false, looks);
  EXPECT_EQ(count(policy, Step::yield, IdlePolicy::long_yield),
            IdlePolicy::oversubscribed_yields / IdlePolicy::yields_of_a_long_one);
  policy.reset();
  EXPECT_EQ(count(policy, Step::yield, IdlePolicy::long_yield - one_ns), IdlePolicy::oversubscribed_yields)
      << "to a rank that answers";
}

TEST(IdlePolicy, ItYieldsForLongerToNobody) {
  LongLooks looks;
  IdlePolicy policy(false, looks);
  EXPECT_EQ(count(policy, Step::yield, IdlePolicy::short_yield - one_ns),
            IdlePolicy::oversubscribed_yields * IdlePolicy::short_yields_of_one);
  EXPECT_EQ(policy.next({}), Step::sleep);
}

TEST(IdlePolicy, ALongLookEndsInYieldsAndSleep) {
  LongLooks looks;
  looks.paid();
  IdlePolicy policy(false, looks);
  EXPECT_EQ(count(policy, Step::poll), IdlePolicy::polls_of_long_look);
  EXPECT_EQ(count(policy, Step::yield), IdlePolicy::oversubscribed_yields - 1) << "one was counted away";
  EXPECT_EQ(policy.next({}), Step::sleep);
}

TEST(LongLooks, AreTriedNowAndThen) {
  LongLooks looks;
  EXPECT_EQ(failing_waits(looks, 10 * LongLooks::waits_between_trials), 10U);
}

TEST(LongLooks, OneThatPaysIsFollowedByOthersUntilTheyFail) {
  LongLooks looks;
  answered_waits(looks, LongLooks::waits_between_trials - 1, 2);
  EXPECT_EQ(answered_waits(looks, 100, IdlePolicy::polls_of_long_look), 100U) << "the trial, and all others";
  EXPECT_EQ(failing_waits(looks, LongLooks::waits_between_trials),
            LongLooks::most_credit / LongLooks::price_of_failure);
  EXPECT_EQ(answered_waits(looks, 1, 2), 0U) << "no credit is left";
}

// An answer that comes after the core was given away says nothing for long looks.
TEST(LongLooks, AnAnswerAfterTheLookIsAFailure) {
  LongLooks looks;
  looks.paid();
  EXPECT_EQ(answered_waits(looks, 2, IdlePolicy::polls_of_long_look + 1), 1U);
}

TEST(LongLooks, AreNotKeptUpWhenTooFewPay) {
  LongLooks looks;
  std::uint32_t long_ones = 0;
  constexpr std::uint32_t turns = 1000;
  for (std::uint32_t turn = 0; turn < turns; ++turn) {
    long_ones += answered_waits(looks, LongLooks::price_of_failure - 2, 2);
    long_ones += failing_waits(looks, 1);
  }
  EXPECT_LT(long_ones, turns * (LongLooks::price_of_failure - 1) / 4) << "of as many waits";
}

TEST(LongLooks, AreKeptUpWhenEnoughPay) {
  LongLooks looks;
  looks.paid();
  std::uint32_t long_ones = 0;
  constexpr std::uint32_t turns = 1000;
  for (std::uint32_t turn = 0; turn < turns; ++turn) {
    long_ones += answered_waits(looks, LongLooks::price_of_failure + 2, 2);
    long_ones += failing_waits(looks, 1);
  }
  EXPECT_EQ(long_ones, turns * (LongLooks::price_of_failure + 3));
}

}  // namespace
}  // namespace parley::transport
