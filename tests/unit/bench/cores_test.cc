#include "bench/cores.h"

#include <gtest/gtest.h>

#include <system_error>
#include <thread>

namespace parley::bench {
namespace {

TEST(Cores, RanksAreDealtOutInTurn) {
  const std::vector<int> cores = {3, 5};
  EXPECT_EQ(core_for(0, cores), 3);
  EXPECT_EQ(core_for(1, cores), 5);
  EXPECT_EQ(core_for(2, cores), 3);
  EXPECT_EQ(describe_pinning(3, cores), "rank 0 on core 3, rank 1 on core 5, rank 2 on core 3");
}

TEST(Cores, APinnedThreadHasOneCore) {
  const std::vector<int> before = usable_cores();
  ASSERT_FALSE(before.empty());
  std::thread([&] {
    pin_to(before.back());
    EXPECT_EQ(usable_cores(), std::vector<int>{before.back()});
  }).join();
  EXPECT_EQ(usable_cores(), before);
}

TEST(Cores, ACoreThatDoesNotExistIsAnError) {
  EXPECT_THROW(pin_to(1023), std::system_error);
}

}  // namespace
}  // namespace parley::bench
