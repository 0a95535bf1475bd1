// In which order devices do what they are told: streams that are held back show who waits for whom.

#include <gtest/gtest.h>
#include <parley/parley.h>
#include <parley/stream.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "tests/multiprocess/device/device_rank.h"
#include "tests/multiprocess/support/ranks.h"

namespace parley::testing {
namespace {

using cuda::Code;
using cuda::testing::Call;
using Bytes = std::vector<std::byte>;

constexpr std::size_t filled_bytes = 100'000;

void fill(DeviceRank& device, const DeviceBuffer& buffer, std::uint8_t value, cuda::Stream stream) {
  const cuda::DeviceScope scope(device.api(), 0);
  expect(device.api().fill(buffer.data(), value, filled_bytes, stream) == Code::ok, "fill");
}

void expect_filled(const Bytes& found, std::uint8_t value) {
  for (const std::byte byte : found) expect_equal(static_cast<int>(byte), static_cast<int>(value), "a byte");
}

class DeviceOrdering : public ::testing::Test {
 protected:
  void SetUp() override {
    if (DeviceRank::is_real()) GTEST_SKIP() << "only the streams of a simulated device can be held back";
  }
};

TEST_F(DeviceOrdering, NobodyWaitsForTheSendersStreamButTheReceiversStream) {
  const int code = run_ranks(
      2,
      [](int rank, int) {
        DeviceRank device;
        ProcessGroup world = init();
        const DeviceBuffer buffer(device, filled_bytes);
        if (rank == 0) {
          device.simulated().hold(cuda::default_stream);
          fill(device, buffer, 7, cuda::default_stream);
          world.send(buffer.tensor(), 1);  // returns, though what it sends has not been written
          world.barrier();
          device.simulated().let_go(cuda::default_stream);
        } else {
          world.recv(buffer.tensor(), 0);
          world.barrier();
          expect_filled(buffer.download(filled_bytes), 7);
        }
        world.barrier();
        destroy();
      },
      over_shm);
  EXPECT_EQ(code, 0);
}

TEST_F(DeviceOrdering, TheSendersStreamWaitsForTheReceiversCopy) {
  const int code = run_ranks(
      2,
      [](int rank, int) {
        DeviceRank device;
        ProcessGroup world = init();
        const DeviceBuffer buffer(device, filled_bytes);
        if (rank == 0) {
          fill(device, buffer, 7, cuda::default_stream);
          world.send(buffer.tensor(), 1);
          fill(device, buffer, 9, cuda::default_stream);
          world.barrier();
        } else {
          device.simulated().hold(cuda::default_stream);
          world.recv(buffer.tensor(), 0);
          world.barrier();  // the sender has told its stream to write the buffer again
          device.simulated().let_go(cuda::default_stream);
          expect_filled(buffer.download(filled_bytes), 7);
        }
        world.barrier();
        destroy();
      },
      over_shm);
  EXPECT_EQ(code, 0);
}

TEST_F(DeviceOrdering, WhatNobodyWaitedForIsFreedAfterTheReceiversCopy) {
  const int code = run_ranks(
      2,
      [](int rank, int) {
        DeviceRank device;
        ProcessGroup world = init();
        if (rank == 0) {
          Tensor tensor = Tensor::full(filled_bytes, 7, DType::u8, {Device::cuda, 0});
          world.isend(tensor, 1).detach(tensor.owner());
          tensor = {};
          world.barrier();  // the receiver has told its stream to copy
        } else {
          const DeviceBuffer buffer(device, filled_bytes);
          device.simulated().hold(cuda::default_stream);
          world.recv(Tensor::from_blob(buffer.data(), filled_bytes, DType::u8, {}, {Device::cuda, 0}), 0);
          world.barrier();
          device.simulated().let_go(cuda::default_stream);
          expect_filled(buffer.download(filled_bytes), 7);
        }
        world.barrier();
        destroy();
      },
      over_shm);
  EXPECT_EQ(code, 0);
}

// Also where a test() in the first stream has found its end before.
TEST_F(DeviceOrdering, AnotherStreamIsOrderedByTheWait) {
  using Await = void (*)(Work&);
  constexpr Await nothing = [](Work&) {};
  constexpr Await test = [](Work& work) {
    while (!work.test()) {
    }
  };
  constexpr Await wait = [](Work& work) { work.wait(); };
  constexpr Await wait_for_all = [](Work& work) { wait_all(std::span(&work, 1)); };
  const std::pair<Await, Await> cases[] = {{nothing, wait}, {test, wait}, {test, wait_for_all}};
  for (const auto& calls : cases) {
    const int code = run_ranks(2, [calls](int rank, int) {
      DeviceRank device;
      ProcessGroup world = init();
      cuda::Stream first = nullptr, second = nullptr;
      {
        const cuda::DeviceScope scope(device.api(), 0);
        expect(device.api().create_stream(first) == Code::ok, "stream");
        expect(device.api().create_stream(second) == Code::ok, "stream");
      }
      const DeviceBuffer buffer(device, filled_bytes), copy(device, filled_bytes);
      if (rank == 0) {
        fill(device, buffer, 5, cuda::default_stream);
        world.send(buffer.tensor(), 1);
      } else {
        Work work;
        {
          const StreamGuard guard(first);
          work = world.irecv(buffer.tensor(), 0);
        }
        device.simulated().hold(first);
        {
          const StreamGuard guard(first);
          calls.first(work);
        }
        {
          const StreamGuard guard(second);
          calls.second(work);
        }
        const cuda::DeviceScope scope(device.api(), 0);
        expect(device.api().copy(copy.data(), buffer.data(), filled_bytes, second) == Code::ok, "copy");
        device.simulated().let_go(first);
        expect(device.api().synchronize(second) == Code::ok, "synchronize");
        expect_filled(copy.download(filled_bytes), 5);
      }
      world.barrier();
      destroy();
    });
    EXPECT_EQ(code, 0) << &calls - cases;
  }
}

TEST_F(DeviceOrdering, ASteadyStateNeitherWaitsNorAllocates) {
  const int code = run_ranks(
      2,
      [](int rank, int) {
        DeviceRank device;
        ProcessGroup world = init();
        const DeviceBuffer buffer(device, filled_bytes);
        const auto play = [&] {
          for (int i = 0; i < 20; ++i) {
            if (rank == 0) world.send(buffer.tensor(), 1);
            if (rank == 1) world.recv(buffer.tensor(), 0);
            if (rank == 1) world.send(buffer.tensor(), 0);
            if (rank == 0) world.recv(buffer.tensor(), 1);
          }
        };
        play();
        world.barrier();
        const auto calls = [&] {
          std::uint64_t sum = 0;
          for (const Call call : {Call::synchronize, Call::synchronize_event, Call::allocate,
                                  Call::allocate_pinned, Call::create_event, Call::create_stream,
                                  Call::import_memory, Call::export_memory, Call::register_host})
            sum += device.simulated().count(call);
          return sum + device.simulated().waiting_copies();
        };
        const std::uint64_t before = calls();
        play();
        expect_equal(calls(), before, "calls that wait, or make something");
        world.barrier();
        destroy();
      },
      over_shm);
  EXPECT_EQ(code, 0);
}

// The events of the first message are not used for the second while the first one's stream has not come to
// them: else the receiver would go on with what is not written.
TEST_F(DeviceOrdering, ASecondMessageInAnotherStreamDoesNotLetTheFirstGo) {
  const int code = run_ranks(
      2,
      [](int rank, int) {
        DeviceRank device;
        ProcessGroup world = init();
        const DeviceBuffer first(device, filled_bytes), second(device, filled_bytes);
        cuda::Stream other = nullptr;
        {
          const cuda::DeviceScope scope(device.api(), 0);
          expect(device.api().create_stream(other) == Code::ok, "create_stream");
        }
        if (rank == 0) {
          device.simulated().hold(cuda::default_stream);
          fill(device, first, 7, cuda::default_stream);
          world.send(first.tensor(), 1);
          fill(device, second, 9, other);
          const StreamGuard guard(other);
          world.send(second.tensor(), 1);
        } else {
          world.recv(first.tensor(), 0);
          const StreamGuard guard(other);
          world.recv(second.tensor(), 0);
          const cuda::DeviceScope scope(device.api(), 0);
          expect(device.api().synchronize(other) == Code::ok, "synchronize");
        }
        world.barrier();
        if (rank == 0) device.simulated().let_go(cuda::default_stream);
        if (rank == 1) {
          expect_filled(first.download(filled_bytes), 7);
          expect_filled(second.download(filled_bytes), 9);
        }
        world.barrier();
        const cuda::DeviceScope scope(device.api(), 0);
        expect(device.api().destroy_stream(other) == Code::ok, "destroy_stream");
        destroy();
      },
      over_shm);
  EXPECT_EQ(code, 0);
}

// Who leaves waits for its device, or its last messages would never be written.
// Also where it is matched when this rank leaves already, and then copied by its device; and where its Work
// is kept until then.
TEST_F(DeviceOrdering, WhoLeavesWaitsForWhatItHasSent) {
  enum class Matched { before, before_and_kept, late };
  for (const Matched matched : {Matched::before, Matched::before_and_kept, Matched::late}) {
    const int code = run_ranks(
        2,
        [&](int rank, int) {
          DeviceRank device;
          {
            ProcessGroup world = init();
            const DeviceBuffer buffer(device, filled_bytes);
            // From now on rank 0 knows that it will push, and shows nothing.
            rank == 0 ? (void)world.send(buffer.tensor(), 1) : (void)world.recv(buffer.tensor(), 0);
            world.barrier();
            if (rank == 0) {
              device.simulated().hold(cuda::default_stream);
              fill(device, buffer, 7, cuda::default_stream);
              Work sent = world.isend(buffer.tensor(), 1);
              if (matched != Matched::late) sent.wait();
              if (matched == Matched::before) sent = {};
              std::atomic<bool> goes_on{false};
              std::thread device_goes_on([&] {
                std::this_thread::sleep_for(std::chrono::milliseconds(300));
                goes_on = true;
                device.simulated().let_go(cuda::default_stream);
              });
              destroy();
              const bool has_waited = goes_on;
              device_goes_on.join();
              expect(has_waited, "it has waited for the device");
            } else {
              if (matched == Matched::late) std::this_thread::sleep_for(std::chrono::milliseconds(100));
              world.recv(buffer.tensor(), 0);
              expect_filled(buffer.download(filled_bytes), 7);
              destroy();
            }
          }
        },
        over_shm);
    EXPECT_EQ(code, 0) << static_cast<int>(matched);
  }
}

// synchronize() means the stream that went on after the operation, whichever is current by then.
TEST_F(DeviceOrdering, SynchronizeAfterAWaitInAnotherStream) {
  const int code = run_ranks(1, [](int, int) {
    DeviceRank device;
    ProcessGroup world = init();
    const DeviceBuffer buffer(device, filled_bytes);
    const cuda::DeviceScope scope(device.api(), 0);
    cuda::Stream other = nullptr;
    expect(device.api().create_stream(other) == Code::ok, "create_stream");
    device.simulated().hold(other);
    fill(device, buffer, 7, other);
    Work work;
    {
      const StreamGuard guard(other);
      work = world.broadcast(buffer.tensor(), 0, {.async_op = true});
      work.wait();
    }
    std::thread device_goes_on([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      device.simulated().let_go(other);
    });
    work.synchronize();
    expect_equal(device.simulated().pending(other), 0U, "what the stream has not done");
    device_goes_on.join();
    expect(device.api().destroy_stream(other) == Code::ok, "destroy_stream");
    destroy();
  });
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace parley::testing
