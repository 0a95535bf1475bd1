// What fails in the middle of a message is an error of who is told, and holds up nobody.

#include <gtest/gtest.h>
#include <parley/parley.h>
#include <parley/stream.h>

#include <cstddef>
#include <string>

#include "tests/multiprocess/device/device_rank.h"
#include "tests/multiprocess/support/ranks.h"

namespace parley::testing {
namespace {

using cuda::Code;
using cuda::testing::Call;

constexpr std::size_t passed_bytes = 100'000;

class DeviceFailures : public ::testing::Test {
 protected:
  void SetUp() override {
    if (DeviceRank::is_real()) GTEST_SKIP() << "only a simulated device fails on demand";
  }
};

void pass(ProcessGroup& world, int sender, const DeviceBuffer& buffer) {
  world.rank() == sender ? (void)world.send(buffer.tensor(), 1 - sender)
                         : (void)world.recv(buffer.tensor(), sender);
}

// What the error says with which a message ends, or nothing: to be looked at when no stream is held any more.
template <typename Action>
std::string failure_of(const Action& action) {
  try {
    action();
  } catch (const SystemError& error) {
    return error.what();
  }
  return {};
}

// Rank 0 makes all copies, and has taken the offer when its call fails. It tells what has become of it; the
// other one's stream, which was to wait for the copy, goes on, and so do the next messages.
TEST_F(DeviceFailures, ACopyThatFailsWhenTheOfferIsTaken) {
  for (const int sender : {0, 1}) {
    const int code = run_ranks(
        2,
        [sender](int rank, int) {
          DeviceRank device;
          ProcessGroup world = init();
          const DeviceBuffer buffer(device, passed_bytes), other(device, passed_bytes);
          // From the second message on rank 0 knows that the copies are its own.
          for (const int first : {0, 1, 0, 1}) pass(world, first, buffer);
          for (const Call call : {Call::wait_word, Call::copy, Call::write_word}) {
            if (rank == 1) {
              // Then there is something to wait for.
              device.simulated().hold(cuda::default_stream);
              const cuda::DeviceScope scope(device.api(), 0);
              expect(device.api().fill(other.data(), 1, passed_bytes, cuda::default_stream) == Code::ok,
                     "fill");
            }
            // The copy before it is still to be made.
            if (rank == 0) device.simulated().hold(cuda::default_stream);
            pass(world, sender, buffer);
            world.barrier();
            if (rank == 0) device.simulated().fail_next(call, Code::illegal_address);
            Work work;
            std::string failure;
            if (rank == 0)
              failure = failure_of([&] { pass(world, sender, buffer); });
            else
              work = sender == 1 ? world.isend(buffer.tensor(), 0) : world.irecv(buffer.tensor(), 0);
            world.barrier();
            device.simulated().let_go(cuda::default_stream);
            const cuda::DeviceScope scope(device.api(), 0);
            expect(device.api().synchronize(cuda::default_stream) == Code::ok, "synchronize");
            world.barrier();
            // What was told for the copy before has been signalled since the failure.
            if (rank == 1) failure = failure_of([&] { work.wait(); });
            if (rank == 0)
              expect_contains(failure, "the device failed: CUDA error 700");
            else if (sender == 0)
              expect(failure.ends_with("the device failed"), "no number is known: " + failure);
            else
              expect(failure.empty(), "the sender has nothing to do with it: " + failure);
            for (const int first : {0, 1}) {
              if (rank == first) buffer.upload(pattern(passed_bytes, 5));
              pass(world, first, buffer);
              expect_pattern(buffer.download(passed_bytes), 5);
            }
          }
          world.barrier();
          destroy();
        },
        over_shm);
    EXPECT_EQ(code, 0) << sender;
  }
}

// The message has arrived, and wait() cannot have the caller's stream follow it.
TEST_F(DeviceFailures, AStreamThatCannotFollowIsAnErrorOfTheWait) {
  const int code = run_ranks(
      2,
      [](int rank, int) {
        DeviceRank device;
        ProcessGroup world = init();
        const DeviceBuffer buffer(device, passed_bytes);
        cuda::Stream other = nullptr;
        const cuda::DeviceScope scope(device.api(), 0);
        expect(device.api().create_stream(other) == Code::ok, "create_stream");
        if (rank == 0) {
          world.send(buffer.tensor(), 1);
        } else {
          Work work = world.irecv(buffer.tensor(), 0);
          device.simulated().fail_next(Call::wait, Code::illegal_address);
          const StreamGuard guard(other);
          expect_contains(failure_of([&] { work.wait(); }), "the device failed: CUDA error 700");
        }
        world.barrier();
        expect(device.api().destroy_stream(other) == Code::ok, "destroy_stream");
        destroy();
      },
      over_shm);
  EXPECT_EQ(code, 0);
}

// ... nor the peer's copy, which it is to wait for. Before its memory is used again it does all the same.
TEST_F(DeviceFailures, ASenderWhoseStreamCannotFollowIsAnErrorOfTheWait) {
  const int code = run_ranks(
      2,
      [](int rank, int) {
        DeviceRank device;
        ProcessGroup world = init();
        const DeviceBuffer buffer(device, passed_bytes);
        if (rank == 0) {
          device.simulated().hold(cuda::default_stream);
          world.recv(buffer.tensor(), 1);
          world.barrier();
          device.simulated().let_go(cuda::default_stream);
          expect_pattern(buffer.download(passed_bytes), 3);
        } else {
          buffer.upload(pattern(passed_bytes, 3));
          device.simulated().fail_next(Call::wait_word, Code::illegal_address);
          const std::string failure = failure_of([&] { pass(world, 1, buffer); });
          const cuda::DeviceScope scope(device.api(), 0);
          expect(device.api().fill(buffer.data(), 9, passed_bytes, cuda::default_stream) == Code::ok, "fill");
          world.barrier();
          expect_contains(failure, "the device failed: CUDA error 700");
        }
        world.barrier();
        destroy();
      },
      over_shm);
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace parley::testing
