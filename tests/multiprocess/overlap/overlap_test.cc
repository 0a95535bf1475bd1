// Start an operation, compute, wait: the operation goes on while its owner makes no call. "Computing" is to
// look at a shared page until the other rank says that it has what it needs, so nothing here hangs on speed.

#include <gtest/gtest.h>
#include <parley/parley.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <vector>

#include "tests/multiprocess/support/await.h"
#include "tests/multiprocess/support/ranks.h"
#include "tests/multiprocess/support/shared_page.h"
#include "tests/sanitizer.h"

namespace parley::testing {
namespace {

using namespace std::chrono_literals;
using Bytes = std::vector<std::uint8_t>;
constexpr std::size_t large_bytes = std::size_t{sanitizer::is_on ? 8 : 64} << 20;

struct Room {
  std::array<std::atomic<int>, 2> done{};  // per rank: rounds that have ended
  std::atomic<std::int64_t> started_ns{0};
};

int rounds() {
  return long_tests() ? 20 : 3;
}

std::uint8_t mark(int round) {
  return static_cast<std::uint8_t>(round + 1);
}

void expect_marked(const Bytes& data, int round) {
  const auto right = static_cast<std::size_t>(std::count(data.begin(), data.end(), mark(round)));
  expect_equal(right, data.size(), "bytes that are right");
}

TEST(Overlap, ALargeSendLeavesWhileItsOwnerComputes) {
  const SharedPage<Room> room;
  const int code = run_ranks(2, [&](int rank, int) {
    ProcessGroup world = init();
    Bytes data(large_bytes);
    for (int round = 0; round < rounds(); ++round) {
      world.barrier();
      if (rank == 0) {
        std::fill(data.begin(), data.end(), mark(round));
        Work work = world.isend(data, 1);
        await([&] { return room->done[1] > round; }, "the receiver has all of the message");
        work.wait();
      } else {
        world.recv(data, 0);
        expect_marked(data, round);
        ++room->done[1];
      }
    }
  });
  EXPECT_EQ(code, 0);
}

// The receiver learns by then() that the message is there: its buffer is not its own before.
TEST(Overlap, ALargeReceiveArrivesWhileItsOwnerComputes) {
  const SharedPage<Room> room;
  const int code = run_ranks(2, [&](int rank, int) {
    ProcessGroup world = init();
    Bytes data(large_bytes);
    for (int round = 0; round < rounds(); ++round) {
      world.barrier();
      if (rank == 0) {
        std::fill(data.begin(), data.end(), mark(round));
        world.send(data, 1);
        ++room->done[0];
      } else {
        std::atomic<bool> ended{false};
        Work work = world.irecv(data, 0);
        work.then([&](const std::exception_ptr& error) { ended = error == nullptr; });
        await([&] { return ended.load(); }, "the message");
        await([&] { return room->done[0] > round; }, "the sender's return");
        work.wait();
        expect_marked(data, round);
      }
    }
  });
  EXPECT_EQ(code, 0);
}

// Nobody makes a call: the background threads of both sides do all of it.
TEST(Overlap, BothSidesComputeInBothDirections) {
  const SharedPage<Room> room;
  const int code = run_ranks(2, [&](int rank, int) {
    ProcessGroup world = init();
    Bytes out(large_bytes), in(large_bytes);
    const auto self = static_cast<std::size_t>(rank);
    for (int round = 0; round < rounds(); ++round) {
      std::fill(out.begin(), out.end(), mark(round));
      world.barrier();
      std::atomic<int> ended{0};
      const auto count = [&](const std::exception_ptr& error) { ended += error == nullptr ? 1 : 10; };
      Work received = world.irecv(in, 1 - rank);
      Work sent = world.isend(out, 1 - rank);
      received.then(count);
      sent.then(count);
      await([&] { return ended >= 2; }, "both messages");
      expect_equal(ended.load(), 2, "operations that ended well");
      ++room->done[self];
      await([&] { return room->done[1 - self] > round; }, "the other rank's messages");
      received.wait();
      sent.wait();
      expect_marked(in, round);
    }
  });
  EXPECT_EQ(code, 0);
}

// Those after the first may be kept for a common write; nobody makes the call that would write them.
TEST(Overlap, ABurstOfSmallSendsLeavesWhileItsOwnerComputes) {
  constexpr int messages = 100;
  const SharedPage<Room> room;
  const int code = run_ranks(2, [&](int rank, int) {
    ProcessGroup world = init();
    for (int round = 0; round < 10 * rounds(); ++round) {
      world.barrier();
      if (rank == 1) {
        for (int i = 0; i < messages; ++i) expect_equal(world.recv<int>(0), i, "value");
        ++room->done[1];
        continue;
      }
      std::vector<int> values(messages);
      std::vector<Work> works;
      for (int i = 0; i < messages; ++i) {
        int& value = values[static_cast<std::size_t>(i)] = i;
        works.push_back(world.isend(std::span(&value, 1), 1));
      }
      await([&] { return room->done[1] > round; }, "the receiver has all of the burst");
      wait_all(works);
    }
  });
  EXPECT_EQ(code, 0);
}

// From isend() to the receiver's return, of a message that needs its sender once more. The issue promises
// 1 ms for the start; the bound leaves room for the message itself.
TEST(Overlap, StartsWithinMilliseconds) {
  constexpr std::size_t bytes = 128 * 1024;  // offered: leaves only when the sender has got the grant
  const int times = long_tests() ? 500 : 30;
  const SharedPage<Room> room;
  const int code = run_ranks(2, [&](int rank, int) {
    ProcessGroup world = init();
    Bytes data(bytes, 1);
    std::vector<std::chrono::nanoseconds> delays;
    for (int round = 0; round < times; ++round) {
      world.barrier();
      if (rank == 0) {
        room->started_ns = now().count();
        Work work = world.isend(data, 1);
        await([&] { return room->done[1] > round; }, "the receiver has all of the message");
        work.wait();
      } else {
        world.recv(data, 0);
        delays.push_back(now() - std::chrono::nanoseconds(room->started_ns));
        ++room->done[1];
      }
    }
    if (rank == 0) return;
    std::sort(delays.begin(), delays.end());
    const auto median = delays[delays.size() / 2];
    std::printf("%zu B, sender computes: median %.3f ms, slowest %.3f ms\n", bytes, in_ms(median),
                in_ms(delays.back()));
    if (long_tests()) expect(median < 2ms * slowness(), "the median delay");
  });
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace parley::testing
