// kill -9 of a process that shares a device: the others are told, its memory comes back, the next job starts.

#include <gtest/gtest.h>
#include <parley/parley.h>
#include <parley/stream.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "tests/multiprocess/device/device_rank.h"
#include "tests/multiprocess/support/await.h"
#include "tests/multiprocess/support/ranks.h"
#include "tests/multiprocess/support/shared_page.h"

namespace parley::testing {
namespace {

constexpr int ranks = 4;
constexpr int victim = 2;
constexpr std::size_t message = std::size_t{3} << 20;

constexpr std::size_t smallest_block = std::size_t{16} << 20;
// What may differ between two processes that look: caches of the driver.
constexpr std::size_t slack = 4 * smallest_block;

// How much of device 0 a process can have, in steps of the smallest block.
std::size_t available_bytes(DeviceRank& device) {
  const cuda::DeviceScope scope(device.api(), 0);
  std::vector<std::byte*> blocks;
  std::size_t sum = 0;
  for (std::size_t bytes = std::size_t{1} << 38; bytes >= smallest_block; bytes /= 2) {
    std::byte* block = nullptr;
    if (device.api().allocate(bytes, block) != cuda::Code::ok) continue;
    blocks.push_back(block);
    sum += bytes;
  }
  for (std::byte* const block : blocks) (void)device.api().free(block);
  return sum;
}

// The same, of a process that has nothing else to do.
std::size_t available_bytes_of_a_new_process() {
  const SharedPage<std::atomic<std::size_t>> found;
  const int code = run_ranks(1, [&](int, int) {
    DeviceRank device;
    *found = available_bytes(device);
  });
  EXPECT_EQ(code, 0);
  return *found;
}

// A ring of messages and a sum.
void play(ProcessGroup& world, const DeviceBuffer& out, const DeviceBuffer& in) {
  const int above = (world.rank() + 1) % world.size();
  const int below = (world.rank() + world.size() - 1) % world.size();
  world.sendrecv(out.tensor(), above, in.tensor(), below);
  world.all_reduce(Tensor::from_blob(in.data(), {static_cast<std::int64_t>(message / sizeof(float))},
                                     DType::f32, {}, Device{Device::cuda, 0}));
}

struct Survivors {
  std::atomic<int> told;  // got the error
  std::atomic<int> left;  // gave back all they had of the device, and ended
};

// The victim holds `much` memory, and dies between two calls: `quietly`, after its streams have done all that
// they were told, or not.
void play_until_death(int rank, std::size_t much, bool quietly, Survivors& survivors) {
  std::signal(SIGTERM, SIG_IGN);  // by which spawn() asks the survivors to end
  {
    DeviceRank device;
    ProcessGroup world = init();
    const DeviceBuffer out(device, message), in(device, message);
    out.upload(std::vector<std::byte>(message));
    world.barrier();
    if (rank == victim) {
      const DeviceBuffer memory(device, much);
      for (int round = 0; round < 20; ++round) {
        play(world, out, in);
        (void)in.download(1);
      }
      play(world, out, in);
      const Work sent = world.isend(out.tensor(), (rank + 1) % ranks);
      if (quietly) (void)in.download(1);
      std::raise(SIGKILL);
    }
    const auto error = expect_throws<PeerDiedError>([&] {
      for (;;) {
        play(world, out, in);
        (void)in.download(1);
      }
    });
    expect_equal(error.details().culprit, victim, "who died");
    ++survivors.told;
  }
  ++survivors.left;
}

int run_next_job() {
  return run_ranks(ranks, [](int, int) {
    DeviceRank device;
    ProcessGroup world = init();
    const DeviceBuffer out(device, message), in(device, message);
    out.upload(std::vector<std::byte>(message));
    for (int round = 0; round < 3; ++round) play(world, out, in);
    world.barrier();
    destroy();
  });
}

// Two streams read one allocation of a process that dies: it stays open until both have. (Rank 0 makes the
// copies.)
TEST(DeviceReaders, OfOneAllocationKeepItOpenWhenItsOwnerDies) {
  if (DeviceRank::is_real()) GTEST_SKIP() << "only the streams of a simulated device can be held back";
  constexpr std::size_t half = 50'000;
  const SharedPage<Survivors> survivors;
  const int code = run_ranks(
      2,
      [&](int rank, int) {
        std::signal(SIGTERM, SIG_IGN);
        DeviceRank device;
        ProcessGroup world = init();
        const DeviceBuffer buffer(device, 2 * half);
        const Tensor whole = buffer.tensor();
        const Tensor first = whole.narrow(0, 0, half), second = whole.narrow(0, half, half);
        if (rank == 1) {
          buffer.upload(pattern(2 * half, 5));
          const Work one = world.isend(first, 0), other = world.isend(second, 0);
          (void)world.recv<int>(0);
          // A simulated stream dies with its process, and what it was still to do.
          (void)buffer.download(1);
          std::raise(SIGKILL);
        }
        const cuda::DeviceScope scope(device.api(), 0);
        cuda::Stream busy = nullptr;
        expect(device.api().create_stream(busy) == cuda::Code::ok, "create_stream");
        device.simulated().hold(busy);
        {
          const StreamGuard guard(busy);
          world.recv(first, 1);
        }
        world.recv(second, 1);
        world.send(1, 1);
        expect_throws<PeerDiedError>([&] { (void)world.recv<int>(1); });
        for (int i = 0; i < 3; ++i) (void)world.irecv(Tensor::zeros({1}, DType::i32), 0).cancel();
        device.simulated().let_go(busy);
        expect(device.api().synchronize(busy) == cuda::Code::ok, "synchronize");
        expect_pattern(buffer.download(2 * half), 5);
        expect(device.api().destroy_stream(busy) == cuda::Code::ok, "destroy_stream");
        ++survivors->told;
      },
      over_shm);
  EXPECT_EQ(code, killed_exit_code);
  EXPECT_EQ(survivors->told, 1);
}

// A survivor that waits for its device, and calls nothing of Parley's meanwhile, is let go all the same: its
// stream was told to wait for what the victim's has not done.
TEST(DeviceReaders, AreReleasedByTheDeathOfWhomTheirStreamsAwait) {
  if (DeviceRank::is_real()) GTEST_SKIP() << "only the streams of a simulated device can be held back";
  const SharedPage<Survivors> survivors;
  const int code = run_ranks(
      2,
      [&](int rank, int) {
        std::signal(SIGTERM, SIG_IGN);
        DeviceRank device;
        ProcessGroup world = init();
        const DeviceBuffer buffer(device, 1000);
        if (rank == 1) {
          device.simulated().hold(cuda::default_stream);
          const cuda::DeviceScope scope(device.api(), 0);
          expect(device.api().fill(buffer.data(), 1, 1000, cuda::default_stream) == cuda::Code::ok, "fill");
          const Work sent = world.isend(buffer.tensor(), 0);
          (void)world.recv<int>(0);
          await([&] { return survivors->told == 1; }, "rank 0 is about to wait");
          std::this_thread::sleep_for(std::chrono::milliseconds(100));
          std::raise(SIGKILL);
        }
        world.recv(buffer.tensor(), 1);
        world.send(1, 1);
        ++survivors->told;
        const cuda::DeviceScope scope(device.api(), 0);
        expect(device.api().synchronize(cuda::default_stream) == cuda::Code::ok, "synchronize");
        expect_throws<PeerDiedError>([&] { (void)world.recv<int>(1); });
        ++survivors->left;
      },
      over_shm);
  EXPECT_EQ(code, killed_exit_code);
  EXPECT_EQ(survivors->left, 1);
}

class DeviceDeath : public ::testing::TestWithParam<bool> {};

TEST_P(DeviceDeath, IsToldAndLeavesNothingBehind) {
  const bool quietly = GetParam();
  const std::size_t before = available_bytes_of_a_new_process();
  const SharedPage<Survivors> survivors;
  EXPECT_EQ(run_ranks(ranks, [&](int rank, int) { play_until_death(rank, before / 4, quietly, *survivors); }),
            killed_exit_code);
  EXPECT_EQ(survivors->told, ranks - 1);
  EXPECT_EQ(survivors->left, ranks - 1);

  EXPECT_NO_THROW(
      await([&] { return available_bytes_of_a_new_process() + slack >= before; }, "the memory comes back"));
  EXPECT_EQ(run_next_job(), 0);
}

INSTANTIATE_TEST_SUITE_P(OfAProcess, DeviceDeath, ::testing::Bool(), [](const auto& of) {
  return std::string(of.param ? "whose_streams_are_done" : "whose_streams_are_not");
});

}  // namespace
}  // namespace parley::testing
