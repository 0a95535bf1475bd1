// Ranks of one host with GPUs of their own, of which each sees the other's or does not.

#include <gtest/gtest.h>
#include <parley/parley.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "tests/multiprocess/device/device_rank.h"
#include "tests/multiprocess/support/ranks.h"

namespace parley::testing {
namespace {

using cuda::testing::Call;

class DeviceVisibility : public ::testing::Test {
 protected:
  void SetUp() override {
    if (DeviceRank::is_real()) GTEST_SKIP() << "the machine may have one device only";
  }
};

// What a rank is told to make of the host's GPUs, and to expect of them.
struct Sight {
  int first = 0;   // the GPU that is device 0 here
  int count = 1;   // how many are visible
  int device = 0;  // which of them it uses
  bool opens_peers = false;
  bool is_opened = false;  // by the peer
};

// Messages both ways. Who can open the other's memory receives by one device copy of its own, and the
// sender's device makes none; the others receive by way of the host.
void exchange(int rank, const Sight& sight) {
  constexpr std::size_t bytes = (2 << 20) + 9;
  DeviceRank device(sight.first, sight.count);
  ProcessGroup world = init();
  const DeviceBuffer buffer(device, bytes, DeviceBuffer::Source::plain, sight.device);
  const auto copies = [&] { return device.simulated().count(Call::copy); };
  for (const int sender : {0, 1, 0, 1}) {
    const auto seed = static_cast<std::uint64_t>(sender);
    if (rank == sender) buffer.upload(pattern(bytes, seed));
    const auto before = copies();
    rank == sender ? (void)world.send(buffer.tensor(), 1 - rank)
                   : (void)world.recv(buffer.tensor(), 1 - rank);
    const auto made = copies() - before;
    if (rank != sender) {
      expect(sight.opens_peers ? made == 1 : made > 1, "copies of the receiver: " + std::to_string(made));
      expect_pattern(buffer.download(bytes), seed);
    }
    if (rank == sender)
      expect(sight.is_opened ? made == 0 : made > 1, "copies of the sender: " + std::to_string(made));
  }
  expect_equal(device.simulated().open_imports(), sight.opens_peers ? 1U : 0U, "open imports");
  world.barrier();
  destroy();
}

TEST_F(DeviceVisibility, GpusThatCannotSeeEachOtherGoByWayOfTheHost) {
  const int code = run_ranks(
      2, [](int rank, int) { exchange(rank, {.first = rank}); }, over_shm);
  EXPECT_EQ(code, 0);
}

TEST_F(DeviceVisibility, OfTwoGpusThatBothSeeEachReceiverPulls) {
  const int code = run_ranks(
      2,
      [](int rank, int) {
        exchange(rank, {.count = 2, .device = rank, .opens_peers = true, .is_opened = true});
      },
      over_shm);
  EXPECT_EQ(code, 0);
}

// Each calls it by another number.
TEST_F(DeviceVisibility, WhoAloneSeesBothPulls) {
  for (const int seer : {0, 1}) {
    const int code = run_ranks(
        2,
        [seer](int rank, int) {
          if (rank == seer)
            exchange(rank, {.count = 2, .opens_peers = true});
          else
            exchange(rank, {.first = 1, .is_opened = true});
        },
        over_shm);
    EXPECT_EQ(code, 0) << seer;
  }
}

}  // namespace
}  // namespace parley::testing
