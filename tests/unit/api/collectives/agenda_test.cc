// Which steps of a schedule may begin.
#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "api/collective/agenda.h"

namespace parley::collective {
namespace {

using schedule::StepKind;

Plan plan_of(const std::vector<StepKind>& kinds, Plan::Start start) {
  Plan plan;
  for (const StepKind kind : kinds) plan.schedule.steps.push_back({.kind = kind});
  plan.start = std::move(start);
  return plan;
}

// 0 and 1 are sent and received, 3 is copied at once; 2 reduces what 1 has brought, 4 sends what comes of it.
Plan five_steps() {
  return plan_of({StepKind::send, StepKind::receive, StepKind::reduce, StepKind::copy, StepKind::send},
                 {{0, 0, 1, 0, 2, 1, 0, 0, 0, 0, 3, 0, 0, 0, 0}, 2, 1});
}

void run_five_steps(Agenda& agenda) {
  ASSERT_TRUE(agenda.has_transfer());
  EXPECT_EQ(agenda.pop_transfer(), 0U);
  agenda.unblock(4);  // the next one in its lane
  EXPECT_EQ(agenda.pop_transfer(), 1U);
  EXPECT_FALSE(agenda.has_transfer());
  ASSERT_TRUE(agenda.has_local());
  EXPECT_EQ(agenda.first_local(), 3U);
  agenda.unblock(2);
  EXPECT_EQ(agenda.first_local(), 3U) << "the oldest first";
  agenda.pop_local();
  EXPECT_EQ(agenda.first_local(), 2U);
  agenda.pop_local();
  EXPECT_FALSE(agenda.has_local());
  agenda.unblock(4);
  EXPECT_EQ(agenda.pop_transfer(), 4U);
  for (int step = 0; step < 5; ++step) {
    EXPECT_FALSE(agenda.is_done());
    agenda.end_step();
  }
  EXPECT_TRUE(agenda.is_done());
}

TEST(Agenda, HoldsOnePlanAfterAnother) {
  const Plan five = five_steps(), one = plan_of({StepKind::receive}, {{0, 0, 0}, 1, 0}), none;
  Agenda agenda;
  EXPECT_TRUE(agenda.is_done());
  for (int time = 0; time < 2; ++time) {
    agenda.begin(five);
    run_five_steps(agenda);
    agenda.begin(one);
    EXPECT_EQ(agenda.pop_transfer(), 0U);
    EXPECT_FALSE(agenda.has_local());
    agenda.end_step();
    EXPECT_TRUE(agenda.is_done());
    agenda.begin(none);
    EXPECT_TRUE(agenda.is_done());
    EXPECT_FALSE(agenda.has_transfer());
  }
}

}  // namespace
}  // namespace parley::collective
