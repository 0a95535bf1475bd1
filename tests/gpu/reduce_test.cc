#include <gtest/gtest.h>

#include "tests/unit/tensor/device_sweep.h"
#include "transport/cuda/runtime.h"

namespace parley::tests {
namespace {

TEST(ReductionsOfADevice, GiveTheBitsOfTheCpu) {
  cuda::Api* const api = cuda::runtime();
  if (api == nullptr) GTEST_SKIP() << cuda::reason_against();
  DeviceSweep(*api).expect_all();
}

}  // namespace
}  // namespace parley::tests
