#include "transport/base/result.h"

#include <gtest/gtest.h>

#include <memory>

namespace parley::base {
namespace {

TEST(Result, HoldsAValue) {
  Result<std::string> result(std::string("x"));
  ASSERT_TRUE(result.ok());
  EXPECT_TRUE(static_cast<bool>(result));
  result.value() += "y";
  EXPECT_EQ(result.value(), "xy");
}

TEST(Result, HoldsAFailure) {
  const Result<int> result(Failure{Code::refused, "no entry"});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.failure().status.code(), Code::refused);
  EXPECT_EQ(result.failure().message, "no entry");
}

TEST(Result, MovesOutWhatCannotBeCopied) {
  Result<std::unique_ptr<int>> result(std::make_unique<int>(7));
  const std::unique_ptr<int> value = std::move(result).value();
  ASSERT_NE(value, nullptr);
  EXPECT_EQ(*value, 7);
}

}  // namespace
}  // namespace parley::base
