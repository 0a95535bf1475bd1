// Patterns that make careless libraries stop: everybody sends before anybody receives.

#include <gtest/gtest.h>
#include <parley/parley.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <thread>
#include <vector>

#include "tests/multiprocess/support/random.h"
#include "tests/multiprocess/support/ranks.h"
#include "tests/multiprocess/support/shared_page.h"
#include "tests/multiprocess/traffic/plan.h"

namespace parley::testing {
namespace {

using Bytes = std::vector<std::byte>;

Bytes content(int source, int destination, std::size_t bytes, std::uint64_t index) {
  Bytes data(bytes);
  Content(1, source, destination, 0, index).fill(data.data(), bytes);
  return data;
}

void expect_content(const Bytes& data, std::size_t bytes, int source, int destination, std::uint64_t index) {
  const std::size_t wrong = Content(1, source, destination, 0, index).first_wrong(data.data(), bytes);
  expect_equal(wrong, bytes, "first wrong byte");
}

TEST(Pattern, EveryRankExchangesLargeTensorsWithItsNeighboursAtOnce) {
  const int code = run_ranks(4, [](int rank, int count) {
    constexpr std::size_t bytes = std::size_t{24} << 20;
    ProcessGroup world = init();
    const int above = (rank + 1) % count;
    const int below = (rank + count - 1) % count;
    Bytes in(bytes);
    for (std::uint64_t round = 0; round < 3; ++round) {
      const Bytes out = content(rank, above, bytes, round);
      const RecvStatus status =
          world.sendrecv(Tensor::bytes(out.data(), bytes), above, Tensor::bytes(in.data(), bytes), below);
      expect_equal(status.bytes, bytes, "bytes");
      expect_content(in, bytes, below, rank, round);
    }
  });
  EXPECT_EQ(code, 0);
}

TEST(Pattern, SendrecvOfRandomSizesBothWays) {
  const int code = run_ranks(2, [](int rank, int) {
    ProcessGroup world = init();
    Random random(7);
    Bytes in(std::size_t{1} << 21);
    for (std::uint64_t round = 0; round < 200; ++round) {
      const std::size_t from_0 = random.below(std::size_t{1} << random.below(22));
      const std::size_t from_1 = random.below(std::size_t{1} << random.below(22));
      const std::size_t own = rank == 0 ? from_0 : from_1;
      const Bytes out = content(rank, 1 - rank, own, round);
      const RecvStatus status = world.sendrecv(Tensor::bytes(out.data(), own), 1 - rank,
                                               Tensor::bytes(in.data(), in.size()), 1 - rank);
      expect_equal(status.bytes, rank == 0 ? from_1 : from_0, "bytes");
      expect_content(in, status.bytes, 1 - rank, rank, round);
    }
  });
  EXPECT_EQ(code, 0);
}

// Far more than credit and socket buffers hold, before the first receive is posted.
TEST(Pattern, TensOfThousandsOfUnmatchedSendsBeforeTheFirstReceive) {
  const int code = run_ranks(2, [](int rank, int) {
    constexpr int messages = 20'000;
    ProcessGroup world = init();
    std::vector<std::int64_t> values(messages);
    std::vector<Work> works;
    for (int i = 0; i < messages; ++i) {
      values[static_cast<std::size_t>(i)] = rank * 1'000'000 + i;
      works.push_back(
          world.isend(std::span(values).subspan(static_cast<std::size_t>(i), 1), 1 - rank, {.tag = i}));
    }
    for (int i = messages; i-- > 0;) {  // the last one first
      const auto value = world.recv<std::int64_t>(1 - rank, {.tag = i});
      expect_equal(value, std::int64_t{(1 - rank) * 1'000'000 + i}, "value");
    }
    wait_all(works);
  });
  EXPECT_EQ(code, 0);
}

TEST(Pattern, MoreRanksThanCoresInABarrier) {
  const int code = run_ranks(8, [](int, int) {
    ProcessGroup world = init();
    for (int i = 0; i < 50; ++i) world.barrier();
  });
  EXPECT_EQ(code, 0);
}

// A rank that leaves delivers what it has sent, although the other one does not look and goes on sending:
// closing a socket with unread bytes in it would throw away what is on its way.
TEST(Pattern, WhatWasSentBeforeLeavingArrives) {
  constexpr std::uint64_t messages = 20;
  constexpr std::size_t bytes = 60'000;  // eager, and together more than the socket's buffer at first
  const SharedPage<std::atomic<bool>> started;
  const SharedPage<std::atomic<bool>> left;
  const int code = run_ranks(2, [&](int rank, int) {
    ProcessGroup world = init();
    if (rank == 0) {
      while (!*started) std::this_thread::yield();
      for (std::uint64_t i = 0; i < messages; ++i) {
        const Bytes out = content(0, 1, bytes, i);
        world.send(Tensor::bytes(out.data(), bytes), 1);
      }
      destroy();
      *left = true;
      return;
    }
    // No call but send(), which does not read; more than a few thousand would wait for credit.
    *started = true;
    try {
      for (int i = 0; i < 3000 && !*left; ++i) world.send(i, 0, {.tag = 5});
    } catch (const PeerLeftError&) {  // a send that found no room has read that it leaves
    }
    Bytes in(bytes);
    for (std::uint64_t i = 0; i < messages; ++i) {
      const RecvStatus status = world.recv(Tensor::bytes(in.data(), bytes), 0);
      expect_content(in, status.bytes, 0, 1, i);
    }
    expect_throws<PeerLeftError>([&] { world.recv<int>(0); });
  });
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace parley::testing
