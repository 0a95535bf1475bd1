#include "api/schedule/overrides.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace parley::schedule {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(Overrides, NameAnAlgorithmForEachOfSomeOperations) {
  const auto parsed = parse_overrides("all_reduce=ring,broadcast=binomial");
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed.value().of(Operation::all_reduce), Algorithm::ring);
  EXPECT_EQ(parsed.value().of(Operation::broadcast), Algorithm::binomial);
  EXPECT_EQ(parsed.value().of(Operation::reduce), std::nullopt);
}

TEST(Overrides, OfAnEmptyTextAskForNothing) {
  const auto parsed = parse_overrides("");
  ASSERT_TRUE(parsed.ok());
  for (const Operation operation : all_operations()) EXPECT_EQ(parsed.value().of(operation), std::nullopt);
}

std::string refusal(std::string_view text) {
  const auto parsed = parse_overrides(text);
  return parsed.ok() ? "" : parsed.failure().message;
}

TEST(Overrides, AFailureNamesWhatIsWrongAndWhatExists) {
  EXPECT_THAT(refusal("allreduce=ring"),
              AllOf(HasSubstr("\"allreduce=ring\""), HasSubstr("no operation is called allreduce"),
                    HasSubstr("exscan")));
  EXPECT_THAT(refusal("all_reduce=rings"),
              AllOf(HasSubstr("all_reduce has no algorithm called rings"), HasSubstr("rabenseifner")));
  EXPECT_THAT(refusal("all_reduce=dissemination"), HasSubstr("no algorithm called dissemination"));
  EXPECT_THAT(refusal("all_reduce"), HasSubstr("operation=algorithm"));
  EXPECT_THAT(refusal("all_reduce=ring,,"), HasSubstr("operation=algorithm"));
  EXPECT_THAT(refusal("scan=chain,scan=linear"), HasSubstr("scan is there twice"));
}

}  // namespace
}  // namespace parley::schedule
