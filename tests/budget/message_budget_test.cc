// What a small message may cost in the steady state: no allocation, over TCP one system call on either side.
// Nor may a collective allocate.

#include <gtest/gtest.h>
#include <parley/parley.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "tests/budget/counted_calls.h"
#include "tests/budget/window.h"
#include "tests/multiprocess/support/ranks.h"
#include "transport/base/env.h"
#include "transport/base/status.h"
#include "transport/interface/packet.h"
#include "transport/protocol/request.h"
#include "transport/protocol/unexpected.h"
#include "transport/socket/reactor.h"

namespace parley::testing {
namespace {

constexpr int warm_up_rounds = 2000;  // all pools have grown, credit has gone round
constexpr int rounds = 10'000;
// A busy machine makes of each round two waits for a core.
const RanksOptions patient{.timeout = std::chrono::seconds(300)};

// Credit and wake-ups that go beside the messages: one in a hundred.
constexpr std::uint64_t and_a_little(std::uint64_t calls) {
  return calls + calls / 100;
}

// What `round` costs this rank in the steady state. Two ranks, both run the same number of rounds.
template <typename Round>
CountedCalls cost_of(const Round& round) {
  for (int i = 0; i < warm_up_rounds; ++i) round();
  const CountedCalls before = CountedCalls::now();
  for (int i = 0; i < rounds; ++i) round();
  return CountedCalls::now().since(before);
}

// Whether a message comes before its receive is chance. Here `messages` of either side surely do, first those
// that may be pulled as offers, then whole: so that the pools of unexpected messages have grown.
void come_early(ProcessGroup& world, Tensor message, int other, std::size_t messages) {
  for (const bool whole : {false, true}) {
    std::vector<Work> sends;
    for (std::size_t i = 0; i < messages; ++i) sends.push_back(world.isend(message, other));
    if (whole) wait_all(sends);
    world.barrier();
    std::vector<std::byte> in(message.bytes());
    for (std::size_t i = 0; i < messages; ++i) world.recv(Tensor::bytes(in.data(), in.size()), other);
    wait_all(sends);
  }
}

void expect_at_most(std::uint64_t calls, std::uint64_t limit, const char* what) {
  expect(calls <= limit,
         std::string(what) + ": " + std::to_string(calls) + ", at most " + std::to_string(limit));
}

// Over shared memory nothing goes through the kernel.
std::uint64_t with_a_socket(std::uint64_t calls) {
  return base::env_string("PARLEY_TRANSPORTS") == "tcp" ? calls : 0;
}

void expect_ping_pong_budget(const CountedCalls& cost) {
  expect_equal(cost.allocations, std::uint64_t{0}, "allocations");
  expect_at_most(cost.sends, with_a_socket(and_a_little(rounds)), "system calls that send");
  expect_at_most(cost.receives, with_a_socket(and_a_little(rounds)), "system calls that receive");
}

TEST(Budget, ABlockingPingPong) {
  const int code = run_ranks(
      2,
      [](int rank, int) {
        ProcessGroup world = init();
        std::int64_t value = 0;
        const std::span<std::int64_t> view(&value, 1);
        come_early(world, Tensor::bytes(&value, sizeof value), 1 - rank, 1);
        expect_ping_pong_budget(cost_of([&] {
          if (rank == 0) {
            world.send(view, 1);
            world.recv(view, 1);
          } else {
            world.recv(view, 0);
            world.send(view, 0);
          }
        }));
      },
      patient);
  EXPECT_EQ(code, 0);
}

TEST(Budget, ANonBlockingPingPong) {
  const int code = run_ranks(
      2,
      [](int rank, int) {
        ProcessGroup world = init();
        std::int64_t out = 0, in = 0;
        const int other = 1 - rank;
        come_early(world, Tensor::bytes(&in, sizeof in), other, 1);
        expect_ping_pong_budget(cost_of([&] {
          Work receive = world.irecv(std::span(&in, 1), other);
          if (rank == 1) receive.wait();
          Work send = world.isend(std::span(&out, 1), other);
          send.wait();
          receive.wait();
        }));
      },
      patient);
  EXPECT_EQ(code, 0);
}

// Larger than what one look at the socket delivers whole, and pulled where memory can be: nothing is
// allocated either. Posted receives and unexpected messages take turns.
TEST(Budget, MediumMessagesAllocateNothing) {
  constexpr std::size_t bytes = 48 * 1024;
  const int code = run_ranks(
      2,
      [](int rank, int) {
        ProcessGroup world = init();
        std::vector<std::byte> out(bytes), in(bytes);
        const int other = 1 - rank;
        // Two would do: a rank that has its answer already may send the next one before its first is
        // received. So many have the link be lent a window, too.
        come_early(world, Tensor::bytes(out.data(), bytes), other, 32);
        const CountedCalls cost = cost_of([&] {
          Work send = world.isend(Tensor::bytes(out.data(), bytes), other);
          world.recv(Tensor::bytes(in.data(), bytes), other);
          send.wait();
        });
        expect_equal(cost.allocations, std::uint64_t{0}, "allocations");
      },
      patient);
  EXPECT_EQ(code, 0);
}

// Large ones, which the receiver copies out of memory that it has mapped.
TEST(Budget, SharedTensorsAskNothingOfTheKernel) {
  constexpr std::size_t bytes = 96 * 1024;
  const int code = run_ranks(
      2,
      [](int rank, int) {
        ProcessGroup world = init();
        const Tensor out = world.shared_tensor(bytes, DType::u8), in = world.shared_tensor(bytes, DType::u8);
        out.fill(rank);
        const int other = 1 - rank;
        const CountedCalls cost = cost_of([&] {
          Work send = world.isend(out, other);
          world.recv(in, other);
          send.wait();
        });
        expect_equal(cost.sends, std::uint64_t{0}, "system calls that send");
        expect_equal(cost.receives, std::uint64_t{0}, "system calls that receive");
      },
      {.timeout = std::chrono::seconds(300), .environment = {{"PARLEY_TRANSPORTS", "shm"}}});
  EXPECT_EQ(code, 0);
}

TEST(Budget, AWindowOfSendsLeavesInFewSystemCalls) {
  const int code = run_ranks(
      2,
      [](int rank, int) {
        ProcessGroup world = init();
        Window window;
        constexpr int windows = 500;
        come_early(world, Tensor::bytes(window.values.data(), sizeof window.values[0]), 1 - rank,
                   Window::size);
        for (int i = 0; i < windows; ++i) window.exchange(world);
        const CountedCalls before = CountedCalls::now();
        for (int i = 0; i < windows; ++i) window.exchange(world);
        const CountedCalls cost = CountedCalls::now().since(before);
        expect_equal(cost.allocations, std::uint64_t{0}, "allocations");
        if (rank == 0)
          expect_at_most(cost.sends, with_a_socket(windows * Window::size / 8), "system calls that send");
        if (rank == 1)
          expect_at_most(cost.receives, with_a_socket(windows * Window::size / 4),
                         "system calls that receive");
      },
      patient);
  EXPECT_EQ(code, 0);
}

TEST(Budget, AnswersToAWindowOfOffersLeaveInFewSystemCalls) {
  constexpr std::size_t window = 64;
  constexpr std::size_t bytes = 4096;
  const int code = run_ranks(2,
                             [](int rank, int) {
                               ProcessGroup world = init();
                               std::vector<std::byte> messages(window * bytes);
                               std::array<Work, window> works;
                               constexpr int windows = 500;
                               const auto exchange = [&] {
                                 if (rank == 0) world.recv<char>(1);  // all its receives are posted
                                 for (std::size_t i = 0; i < window; ++i) {
                                   const Tensor message = Tensor::bytes(messages.data() + i * bytes, bytes);
                                   works[i] = rank == 0 ? world.isend(message, 1) : world.irecv(message, 0);
                                 }
                                 if (rank == 1) world.send('g', 0);
                                 wait_all(works);
                               };
                               for (int i = 0; i < 100; ++i) exchange();
                               const CountedCalls before = CountedCalls::now();
                               for (int i = 0; i < windows; ++i) exchange();
                               const CountedCalls cost = CountedCalls::now().since(before);
                               if (rank == 1)
                                 expect_at_most(cost.sends, windows * window / 4, "system calls that send");
                             },
                             {.timeout = std::chrono::seconds(300),
                              .environment = {{"PARLEY_TRANSPORTS", "tcp"}, {"PARLEY_EAGER_LIMIT", "64"}}});
  EXPECT_EQ(code, 0);
}

// What goes to one rank leaves in one system call, and what came is there for the next to be posted.
TEST(Budget, ABatchLeavesInOneSystemCall) {
  constexpr std::size_t batch = 64;
  constexpr int batches = 500;
  const int code = run_ranks(
      2,
      [](int rank, int) {
        ProcessGroup world = init();
        std::array<std::int64_t, batch> out{}, in{};
        const int other = 1 - rank;
        std::vector<P2POp> ops;
        for (std::size_t i = 0; i < batch; ++i) {
          ops.push_back({P2POp::isend, std::span(&out[i], 1), other});
          ops.push_back({P2POp::irecv, std::span(&in[i], 1), other});
        }
        const auto exchange = [&] {
          std::vector<Work> works = world.batch_isend_irecv(ops);
          wait_all(works);
        };
        for (int i = 0; i < 100; ++i) exchange();
        const CountedCalls before = CountedCalls::now();
        for (int i = 0; i < batches; ++i) exchange();
        const CountedCalls cost = CountedCalls::now().since(before);
        // Beside some batches a packet of credit leaves.
        expect_at_most(cost.sends, with_a_socket(batches + batches / 4), "system calls that send");
        expect_at_most(cost.doorbells, batches, "doorbells");
      },
      patient);
  EXPECT_EQ(code, 0);
}

TEST(Budget, ASleepIsRungForOnce) {
  socket::Reactor reactor;
  const auto rings = [&] {
    const CountedCalls before = CountedCalls::now();
    for (int i = 0; i < 100; ++i) reactor.ring();
    return CountedCalls::now().since(before).doorbells;
  };
  for (int sleeps = 0; sleeps < 3; ++sleeps) {
    EXPECT_EQ(rings(), 0U) << "nobody sleeps";
    reactor.announce_sleep();
    EXPECT_EQ(rings(), 1U);
    reactor.sleep(base::Deadline::never());
  }
}

TEST(Budget, PersistentRequestsAllocateNothing) {
  constexpr std::size_t count = 8;
  const int code = run_ranks(
      2,
      [](int rank, int) {
        ProcessGroup world = init();
        std::array<std::int64_t, count> out{}, in{};
        const int other = 1 - rank;
        come_early(world, Tensor::bytes(out.data(), sizeof out[0]), other, 2 * count);
        std::vector<PersistentRequest> requests;
        for (std::size_t i = 0; i < count; ++i) {
          requests.push_back(world.send_init(std::span(&out[i], 1), other));
          requests.push_back(world.recv_init(std::span(&in[i], 1), other));
        }
        const CountedCalls cost = cost_of([&] {
          start_all(requests);
          wait_all(requests);
        });
        expect_equal(cost.allocations, std::uint64_t{0}, "allocations");
      },
      patient);
  EXPECT_EQ(code, 0);
}

// A rank that is done first begins the next call, so that here, too, messages come before their receives.
TEST(Budget, CollectivesAllocateNothing) {
  constexpr std::size_t many = 10'000;
  const int code = run_ranks(
      2,
      [](int rank, int) {
        ProcessGroup world = init();
        std::vector<float> large(many), few(2), half(many / 2), both(4);
        for (const std::span<float> sent : {std::span(few), std::span(half), std::span(large)})
          come_early(world, Tensor::bytes(sent.data(), sent.size_bytes()), 1 - rank, 32);
        std::vector<Work> many_at_once;
        for (int i = 0; i < 64; ++i) many_at_once.push_back(world.barrier({.async_op = true}));
        wait_all(many_at_once);
        const CountedCalls cost = cost_of([&] {
          world.all_reduce(few);
          world.all_gather_into_tensor(both, few);
          world.all_reduce(large);
          world.reduce_scatter_tensor(half, large);
          world.barrier();
        });
        expect_equal(cost.allocations, std::uint64_t{0}, "allocations");
      },
      patient);
  EXPECT_EQ(code, 0);
}

// Where all come at once a small collective ends before anybody begins to wait. Here one rank comes late, so
// that the other one waits in the middle of a call that nobody may have waited in before.
TEST(Budget, ALateRankLetsNobodyAllocate) {
  const int code = run_ranks(
      2,
      [](int rank, int) {
        ProcessGroup world = init();
        std::vector<float> few(2), both(4);
        come_early(world, Tensor::bytes(few.data(), few.size() * sizeof few[0]), 1 - rank, 32);
        const auto cost_if_late = [&](int late, const auto& call) {
          const CountedCalls before = CountedCalls::now();
          if (rank == late) std::this_thread::sleep_for(std::chrono::milliseconds(20));
          call();
          return CountedCalls::now().since(before);
        };
        const auto meet = [&] { world.barrier(); };
        const auto gather = [&] { world.all_gather_into_tensor(both, few); };
        for (int i = 0; i < 8; ++i) meet();
        for (const int late : {0, 1}) (void)cost_if_late(late, meet);
        for (int i = 0; i < 100; ++i) gather();
        for (const int late : {0, 1})
          expect_equal(cost_if_late(late, gather).allocations, std::uint64_t{0}, "allocations");
      },
      patient);
  EXPECT_EQ(code, 0);
}

TEST(Budget, SizesOfWhatEveryMessageTouches) {
  static_assert(sizeof(transport::PacketHeader) == 32);
  static_assert(sizeof(base::Status) == 8);
  EXPECT_LE(sizeof(transport::Request), 384U);
  EXPECT_LE(sizeof(transport::Unexpected), 320U);
  EXPECT_LE(sizeof(Work), 48U);
  EXPECT_LE(sizeof(RecvStatus), 24U);
  EXPECT_LE(sizeof(Tensor), 256U);
}

}  // namespace
}  // namespace parley::testing
