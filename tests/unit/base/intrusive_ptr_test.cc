#include "transport/base/intrusive_ptr.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>

namespace parley::base {
namespace {

struct Counted {
  explicit Counted(int& living) : living_(living) { ++living_; }
  ~Counted() { --living_; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  int& living_;
  ShareCount shares;
};
using Handle = IntrusivePtr<const Counted>;

TEST(IntrusivePtr, LivesAsLongAsOneShare) {
  int living = 0;
  Handle first(std::make_unique<Counted>(living));
  EXPECT_EQ(first->shares.value, 1U);
  {
    const Handle second = first;
    EXPECT_EQ(first->shares.value, 2U);
    EXPECT_EQ(first, second);
    first = nullptr;
    EXPECT_EQ(living, 1);
    EXPECT_EQ(&*second, second.operator->());
  }
  EXPECT_EQ(living, 0);
  EXPECT_EQ(first, nullptr);
}

TEST(IntrusivePtr, AMoveTakesNoShare) {
  int living = 0;
  Handle first(std::make_unique<Counted>(living));
  Handle second = std::move(first);
  EXPECT_EQ(second->shares.value, 1U);
  const Handle third = std::exchange(second, nullptr);
  EXPECT_EQ(third->shares.value, 1U);
  EXPECT_EQ(second, nullptr);
}

TEST(IntrusivePtr, AnAssignmentLetsGoOfWhatWasThere) {
  int living = 0;
  Handle first(std::make_unique<Counted>(living));
  Handle second(std::make_unique<Counted>(living));
  first = second;
  EXPECT_EQ(living, 1);
  const Handle& itself = first;
  first = itself;
  EXPECT_EQ(first->shares.value, 2U);
}

TEST(IntrusivePtr, ACopyOfWhatIsSharedHasNoShares) {
  ShareCount shared;
  shared.value = 2;
  ShareCount copy = shared;
  EXPECT_EQ(copy.value, 0U);
  copy = shared;
  EXPECT_EQ(copy.value, 0U);
}

}  // namespace
}  // namespace parley::base
