// main() of programs that can run on the machine's device: PARLEY_TEST_DEVICE=cuda asks for that. Without a
// device they say why and end with the code by which CTest counts them as skipped.

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "bench/devices/presence.h"

namespace {

constexpr int exit_skipped = 77;  // as in tools/cmake/ParleyTest.cmake and tools/gpu

bool wants_device() {
  const char* const wish = std::getenv("PARLEY_TEST_DEVICE");  // NOLINT(concurrency-mt-unsafe)
  return wish != nullptr && std::string_view(wish) == "cuda";
}

}  // namespace

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  if (wants_device()) {
    // Asked in a child: the tests fork ranks, and who has opened CUDA must not.
    const std::string reason = parley::bench::reason_against_devices();
    if (!reason.empty()) return std::printf("skipped: no device: %s\n", reason.c_str()), exit_skipped;
  }
  return RUN_ALL_TESTS();
}
