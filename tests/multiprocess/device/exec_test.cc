// A process that has used its device and then starts ranks that use theirs, by spawn() with {.exec = true}.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <parley/parley.h>

#include <cstddef>
#include <cstdio>

#include "tests/multiprocess/device/device_rank.h"
#include "tests/multiprocess/launch/command.h"

namespace parley::testing {
namespace {

constexpr std::size_t bytes = (1 << 20) + 5;

void exchange(int rank, const DeviceBuffer& buffer) {
  ProcessGroup world = init();
  if (rank == 0) {
    buffer.upload(pattern(bytes, 7));
    world.send(buffer.tensor(), 1);
  } else {
    world.recv(buffer.tensor(), 0);
    expect_pattern(buffer.download(bytes), 7);
    std::printf("received\n");
  }
  world.barrier();
}

// Not by itself, for all before it would run again in the ranks: the test below starts this one alone.
TEST(DeviceProcesses, DISABLED_TheCaller) {
  DeviceRank device;
  const DeviceBuffer buffer(device, bytes);
  buffer.upload(pattern(bytes, 1));
  const int code = spawn(2, [&](int rank, int) { exchange(rank, buffer); }, {.exec = true});
  EXPECT_EQ(code, 0);
  expect_pattern(buffer.download(bytes), 1);
}

TEST(DeviceProcesses, AProcessThatHasUsedCudaExecutesItself) {
  launch::testing::Command command({"/proc/self/exe", "--gtest_filter=DeviceProcesses.DISABLED_TheCaller",
                                    "--gtest_also_run_disabled_tests"});
  EXPECT_EQ(command.finish(), 0) << command.output() << command.errors();
  EXPECT_THAT(command.output(), ::testing::HasSubstr("[1] received\n"));
}

}  // namespace
}  // namespace parley::testing
