// Errors of one operation leave the link intact: truncation, mismatch, timeout, misuse.

#include <gtest/gtest.h>
#include <parley/parley.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tests/multiprocess/support/ranks.h"

namespace parley::testing {
namespace {

using namespace std::chrono_literals;

// Both ways of travelling: eager and offered, delivered whole and landing.
constexpr std::size_t sizes[] = {64, 6000, 60'000, 3'000'000};

void expect_link_works(ProcessGroup& world, int other) {
  for (const std::size_t bytes : sizes) {
    const std::vector<std::uint8_t> out(bytes, static_cast<std::uint8_t>(world.rank() + 1));
    std::vector<std::uint8_t> in(bytes);
    const RecvStatus status = world.sendrecv(out, other, in, other, {.send_tag = 99, .recv_tag = 99});
    expect_equal(status.bytes, bytes, "bytes of the exchange afterwards");
    expect(in == std::vector<std::uint8_t>(bytes, static_cast<std::uint8_t>(other + 1)),
           "content afterwards");
  }
}

TEST(Truncation, GivesBothSizesAndLeavesTheLinkIntact) {
  const int code = run_ranks(2, [](int rank, int) {
    ProcessGroup world = init();
    for (const std::size_t bytes : sizes) {
      const std::vector<std::uint8_t> message(bytes, 1);
      for (const bool receive_first : {true, false}) {
        if (rank == 0) {
          if (receive_first) world.recv<int>(1, {.tag = 1});
          Work work = world.isend(message, 1);
          if (!receive_first) world.send(0, 1, {.tag = 2});
          work.wait();
          continue;
        }
        std::vector<std::uint8_t> in(bytes, 0xEE);
        Work work;
        const auto room = std::span(in).first(bytes - 1);
        if (receive_first) {
          work = world.irecv(room, 0);
          world.send(0, 0, {.tag = 1});
        } else {
          world.recv<int>(0, {.tag = 2});  // the message, which came before, waits unmatched
          work = world.irecv(room, 0);
        }
        const auto error = expect_throws<TruncationError>([&] { work.wait(); });
        expect_equal(error.details().bytes, bytes - 1, "buffer");
        expect_equal(error.details().message_bytes, bytes, "message");
        expect_equal(error.details().peer, 0, "peer");
        expect_contains(error.what(), std::to_string(bytes) + " B");
        expect_contains(error.what(), std::to_string(bytes - 1) + " B");
        expect_equal(in.back(), std::uint8_t{0xEE}, "the byte behind the buffer");
      }
    }
    expect_link_works(world, 1 - rank);
  });
  EXPECT_EQ(code, 0);
}

TEST(Truncation, OfASynchronousSendIsTheReceiversAlone) {
  const int code = run_ranks(2, [](int rank, int) {
    ProcessGroup world = init();
    for (const std::size_t bytes : sizes) {
      std::vector<std::uint8_t> data(bytes);
      if (rank == 0)
        world.send(data, 1, {.synchronous = true});
      else
        expect_throws<TruncationError>([&] { world.recv(std::span(data).first(10), 0); });
    }
    expect_link_works(world, 1 - rank);
  });
  EXPECT_EQ(code, 0);
}

TEST(Mismatch, NamesBothTypesAndLeavesTheLinkIntact) {
  const int code = run_ranks(2, [](int rank, int) {
    ProcessGroup world = init();
    for (const std::size_t count : {16U, 2000U, 15'000U, 700'000U}) {
      if (rank == 0) {
        const std::vector<float> first(count, 1.0F), second(count, 2.0F);
        world.send(first, 1);
        world.send(second, 1);
      } else {
        std::vector<std::int32_t> wrong(count, 7);
        const auto error = expect_throws<MismatchError>([&] { world.recv(wrong, 0); });
        expect_contains(error.what(), "the message is f32, the tensor i32");
        expect_equal(wrong.front(), 7, "the tensor");
        std::vector<float> right(count);
        world.recv(Tensor::bytes(right.data(), count * sizeof(float)), 0);  // bytes match everything
        expect_equal(right.back(), 2.0F, "the next message");
      }
    }
    expect_link_works(world, 1 - rank);
  });
  EXPECT_EQ(code, 0);
}

TEST(Timeout, ListsTheNearestMisses) {
  const int code = run_ranks(3, [](int rank, int) {
    ProcessGroup world = init();
    const std::vector<float> out(1024, 3.0F);
    if (rank == 2) {
      world.send(out, 0, {.tag = 7});
      world.send(0, 0, {.tag = 1});
    }
    if (rank == 0) {
      world.recv<int>(2, {.tag = 1});
      std::vector<float> in(1024);
      const auto error =
          expect_throws<TimeoutError>([&] { world.recv(in, 1, {.tag = 3, .timeout = 100ms}); });
      expect_contains(error.what(), "recv(tag 3, 4096 B) from rank 1 (");
      expect_contains(error.what(), "timed out after");
      expect_contains(error.what(), "1 unmatched message from rank 2: tag 7, 4096 B, f32");
      expect(error.details().elapsed >= 100ms, "at least the timeout has elapsed");
      expect_equal(error.details().peer, 1, "peer");
      // A probe, and a wait that leaves the operation pending, tell the same.
      const auto probed =
          expect_throws<TimeoutError>([&] { auto message = world.probe(1, {.tag = 3, .timeout = 50ms}); });
      expect_contains(probed.what(), "1 unmatched message from rank 2: tag 7, 4096 B, f32");
      Work work = world.irecv(in, 1, {.tag = 4});
      const auto waited = expect_throws<TimeoutError>([&] { work.wait(50ms); });
      expect_contains(waited.what(), "the operation is still pending; 1 unmatched message from rank 2");
      world.send(0, 1, {.tag = 5});
      work.wait();
      world.recv(in, 2, {.tag = 7});
    }
    if (rank == 1) {
      world.recv<int>(0, {.tag = 5});
      world.send(out, 0, {.tag = 4});
    }
    world.barrier();
  });
  EXPECT_EQ(code, 0);
}

TEST(Timeout, OfAReceiveAndOfASynchronousSendLeavesTheLinkUsable) {
  const int code = run_ranks(2, [](int rank, int) {
    ProcessGroup world = init();
    for (const std::size_t bytes : sizes) {
      std::vector<std::uint8_t> data(bytes);
      if (rank == 0) {
        expect_throws<TimeoutError>([&] { world.recv(data, 1, {.tag = 1, .timeout = 20ms}); });
        const auto error = expect_throws<TimeoutError>(
            [&] { world.send(data, 1, {.tag = 2, .timeout = 20ms, .synchronous = true}); });
        expect_contains(error.what(), "send(tag 2, " + std::to_string(bytes) + " B) to rank 1 (");
      }
      world.barrier();
      if (rank == 1) expect(!world.iprobe(0, {.tag = 2}), "the message was taken back");
    }
    expect_link_works(world, 1 - rank);
  });
  EXPECT_EQ(code, 0);
}

TEST(Timeout, OfTheEnvironmentHoldsForEveryOperation) {
  const int code = run_ranks(2,
                             [](int rank, int) {
                               ProcessGroup world = init();
                               if (rank == 0) expect_throws<TimeoutError>([&] { world.recv<int>(1); });
                               if (rank == 0) world.send(0, 1);
                               if (rank == 1) world.recv<int>(0, {.timeout = no_timeout});
                             },
                             {.environment = {{"PARLEY_TIMEOUT", "200ms"}}});
  EXPECT_EQ(code, 0);
}

TEST(Usage, MistakesAreErrorsAndStartNothing) {
  const int code = run_ranks(2, [](int rank, int) {
    ProcessGroup world = init();
    std::vector<float> data(16);
    const std::vector<float> constant(16);
    expect_contains(expect_throws<UsageError>([&] { world.send(data, 2); }).what(), "0 to 1");
    expect_contains(expect_throws<UsageError>([&] { world.send(data, any_source); }).what(), "-1");
    expect_contains(expect_throws<UsageError>([&] { world.recv(data, 7); }).what(), "7");
    expect_contains(expect_throws<UsageError>([&] { world.send(data, 0, {.tag = -5}); }).what(), "-5");
    expect_throws<UsageError>([&] { world.recv(constant, 0); });
    const Tensor matrix = Tensor::zeros({4, 4});
    expect_contains(expect_throws<UsageError>([&] { world.send(matrix.select(1, 2), 0); }).what(),
                    "not contiguous");
    expect_link_works(world, 1 - rank);
    Work receive = world.irecv(data, 1 - rank);
    expect(receive.cancel(), "an unmatched receive can be cancelled");
    expect_throws<CancelledError>([&] { receive.wait(); });
    world.barrier();
  });
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace parley::testing
