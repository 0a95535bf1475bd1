// Which way device memory takes, and that it arrives whatever becomes of that way.

#include <gtest/gtest.h>
#include <parley/parley.h>

#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "tests/multiprocess/device/device_rank.h"
#include "tests/multiprocess/support/ranks.h"
#include "tests/multiprocess/support/shared_page.h"

namespace parley::testing {
namespace {

using cuda::Code;
using cuda::testing::Call;

constexpr std::size_t streamed_bytes = (2 << 20) + 9;

class DevicePaths : public ::testing::Test {
 protected:
  void SetUp() override {
    if (DeviceRank::is_real()) GTEST_SKIP() << "only a simulated device fails on demand";
  }
};

// Rank 0 sends to rank 1, `count` times; each first does what it is told.
void stream_of_messages(DeviceRank& device, ProcessGroup& world, int count, const DeviceBuffer& buffer,
                        const std::function<void(int)>& before = {}) {
  for (int i = 0; i < count; ++i) {
    if (before) before(i);
    world.barrier();
    if (world.rank() == 0) {
      buffer.upload(pattern(streamed_bytes, static_cast<std::uint64_t>(i)));
      world.send(buffer.tensor(streamed_bytes), 1);
    } else {
      world.recv(buffer.tensor(streamed_bytes), 0);
      expect_pattern(buffer.download(streamed_bytes), static_cast<std::uint64_t>(i));
    }
  }
  (void)device;
}

TEST_F(DevicePaths, OneDeviceCopyBetweenProcessesOfAHost) {
  const int code = run_ranks(
      2,
      [](int rank, int) {
        DeviceRank device;
        {
          ProcessGroup world = init();
          const DeviceBuffer buffer(device, streamed_bytes);
          const auto copies = [&] { return device.simulated().count(Call::copy); };
          stream_of_messages(device, world, 3, buffer);
          // Rank 0 makes the copies both ways: it pushes, and it pulls.
          for (const int sender : {0, 1}) {
            const std::uint64_t before = copies();
            world.barrier();
            rank == sender ? (void)world.send(buffer.tensor(), 1 - rank)
                           : (void)world.recv(buffer.tensor(), 1 - rank);
            expect_equal(copies() - before, rank == 0 ? 1U : 0U, "copies");
            expect_equal(device.simulated().open_imports(), rank == 0 ? 1U : 0U, "open imports");
          }
          expect_contains(world.describe(), "device memory by CUDA IPC");
          world.barrier();
          destroy();
        }
        expect_equal(device.simulated().open_imports(), 0U, "open imports");
        expect_equal(device.simulated().live_events(), 0U, "events");
        expect_equal(device.simulated().live_registrations(), 0U, "registrations");
        expect_equal(device.simulated().live_allocations(), 0U, "allocations");
      },
      over_shm);
  EXPECT_EQ(code, 0);
}

TEST_F(DevicePaths, MemoryThatCannotBeExportedIsCopiedOnceMore) {
  const int code = run_ranks(
      2,
      [](int rank, int) {
        DeviceRank device;
        ProcessGroup world = init();
        const DeviceBuffer buffer(device, streamed_bytes, DeviceBuffer::Source::pool);
        stream_of_messages(device, world, 4, buffer);
        if (rank == 0) expect_equal(device.simulated().open_imports(), 1U, "open imports");
        world.barrier();
        destroy();
      },
      over_shm);
  EXPECT_EQ(code, 0);
}

TEST_F(DevicePaths, WhatCannotBeOpenedGoesByWayOfTheHost) {
  for (const auto& [call, failure] :
       {std::pair{Call::import_memory, Code::map_failed}, std::pair{Call::import_memory, Code::out_of_memory},
        std::pair{Call::import_memory, Code::already_mapped},
        std::pair{Call::register_host, Code::not_supported},
        std::pair{Call::export_memory, Code::invalid_value},
        std::pair{Call::create_event, Code::out_of_memory}}) {
    const int code = run_ranks(
        2,
        [call = call, failure = failure](int, int) {
          DeviceRank device;
          ProcessGroup world = init();
          const DeviceBuffer buffer(device, streamed_bytes);
          device.simulated().fail_next(call, failure, 2);
          stream_of_messages(device, world, 4, buffer);
          world.barrier();
          destroy();
        },
        over_shm);
    EXPECT_EQ(code, 0) << static_cast<int>(failure);
  }
}

TEST_F(DevicePaths, WithoutPinnedMemoryItArrivesAllTheSame) {
  const int code =
      run_ranks(2,
                [](int rank, int) {
                  DeviceRank device;
                  ProcessGroup world = init();
                  const DeviceBuffer buffer(device, streamed_bytes);
                  // Of the receiver: the sender needs a block to read the device with.
                  if (rank == 1)
                    device.simulated().fail_next(Call::allocate_pinned, Code::out_of_memory, 1000);
                  stream_of_messages(device, world, 3, buffer);
                  world.barrier();
                  destroy();
                },
                {.environment = {{"PARLEY_TRANSPORTS", "tcp"}}});
  EXPECT_EQ(code, 0);
}

TEST_F(DevicePaths, ALinkSaysHowDeviceMemoryGoes) {
  const int code = run_ranks(2,
                             [](int, int) {
                               DeviceRank device;
                               ProcessGroup world = init();
                               const DeviceBuffer buffer(device, streamed_bytes);
                               expect(world.describe().find("device memory") == std::string::npos,
                                      "nothing is said of what is not used");
                               stream_of_messages(device, world, 1, buffer);
                               expect_contains(world.describe(), "device memory by way of the host");
                               world.barrier();
                               destroy();
                             },
                             {.environment = {{"PARLEY_TRANSPORTS", "tcp"}}});
  EXPECT_EQ(code, 0);
}

TEST_F(DevicePaths, MemoryThatComesToAnOldAddressIsToldAnew) {
  const int code = run_ranks(
      2,
      [](int rank, int) {
        DeviceRank device;
        ProcessGroup world = init();
        std::byte* last = nullptr;
        bool was_reused = false;
        for (std::uint64_t i = 0; i < 5; ++i) {
          const DeviceBuffer buffer(device, streamed_bytes);
          was_reused |= buffer.data() == last;
          last = buffer.data();
          if (rank == 0) {
            buffer.upload(pattern(streamed_bytes, i));
            world.send(buffer.tensor(), 1);
          } else {
            world.recv(buffer.tensor(), 0);
            expect_pattern(buffer.download(streamed_bytes), i);
          }
          world.barrier();
        }
        expect(was_reused, "an address was used again");
        if (rank == 0) expect_equal(device.simulated().open_imports(), 1U, "open imports");
        world.barrier();
        destroy();
      },
      over_shm);
  EXPECT_EQ(code, 0);
}

TEST_F(DevicePaths, ADeadPeerLeavesNothingMapped) {
  const SharedPage<std::atomic<int>> survivors;
  const int code = run_ranks(
      3,
      [&](int rank, int) {
        std::signal(SIGTERM, SIG_IGN);  // by which spawn() asks the survivors to end
        DeviceRank device;
        ProcessGroup world = init();
        const DeviceBuffer buffer(device, streamed_bytes);
        if (rank == 1) {
          buffer.upload(pattern(streamed_bytes, 1));
          world.send(buffer.tensor(), 0);
          barrier_before_death(world, 1);
          raise(SIGKILL);
        }
        if (rank == 0) {
          world.recv(buffer.tensor(), 1);
          // Its copy has ended: what is read would stay open.
          expect_pattern(buffer.download(streamed_bytes), 1);
          expect_equal(device.simulated().open_imports(), 1U, "open imports");
        }
        barrier_before_death(world, 1);
        expect_throws<PeerDiedError>([&] { world.recv(buffer.tensor(), 1); });
        expect_equal(device.simulated().open_imports(), 0U, "open imports");
        // What had come is whole, and the survivors go on.
        if (rank == 0) world.send(buffer.tensor(), 2, {.tag = 5});
        if (rank == 2) world.recv(buffer.tensor(), 0, {.tag = 5});
        expect_pattern(buffer.download(streamed_bytes), 1);
        ++*survivors;
        destroy();
      },
      over_shm);
  EXPECT_EQ(code, killed_exit_code);
  EXPECT_EQ(*survivors, 2);
}

TEST_F(DevicePaths, ADeviceThatFailsIsAnErrorAndNoHang) {
  const int code = run_ranks(2, [](int rank, int) {
    DeviceRank device;
    ProcessGroup world = init();
    const DeviceBuffer buffer(device, streamed_bytes);
    world.barrier();
    if (rank == 1) {
      device.simulated().break_device(0, Code::illegal_address);
      const auto error = expect_throws<SystemError>([&] { world.recv(buffer.tensor(), 0); });
      expect_contains(error.what(), "the device failed: CUDA error 700");
    } else {
      world.send(buffer.tensor(), 1);
    }
    world.barrier();
    destroy();
  });
  EXPECT_EQ(code, 0);
}

TEST(DeviceProcesses, AProcessThatHasUsedCudaDoesNotFork) {
  const int code = run_ranks(1, [](int, int) {
    const DeviceRank device;
    const auto error = expect_throws<UsageError>([] { (void)spawn(2, [](int, int) {}); });
    expect_contains(error.what(), "spawn: this process has used CUDA");
    expect_contains(error.what(), "{.exec = true}");
  });
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace parley::testing
