// A rank that learns of the end of its operations from poll(fd()) alone, and whose poll() sleeps when there
// is nothing to learn.

#include <gtest/gtest.h>
#include <parley/parley.h>
#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <exception>
#include <vector>

#include "tests/multiprocess/event_loop/loop.h"
#include "tests/multiprocess/support/await.h"
#include "tests/multiprocess/support/ranks.h"

namespace parley::testing {
namespace {

using namespace std::chrono_literals;
constexpr std::uint64_t completion_seed = 4712;
constexpr std::size_t large_bytes = std::size_t{1} << 20;
using Bytes = std::vector<std::uint8_t>;

int completion_steps() {
  return long_tests() ? 10'000 : 200;
}

// Whose end depends on the receiver: its accept, its credit, the room in the socket.
TEST(EventLoop, TheEndOfSendsWakesThePoll) {
  const SharedPage<Room> room;
  const int code = run_ranks(
      2,
      [&](int rank, int) {
        ProcessGroup world = init();
        world.barrier();
        Bytes data(large_bytes);
        Loop loop(world, *room);
        Random random(completion_seed);
        for (std::int64_t step = 0; step < completion_steps(); ++step) {
          const std::size_t bytes = step % 2 == 0 ? 100 : large_bytes;
          if (rank == 1) {
            await_step(*room, step, random);
            expect_equal(world.recv(data, 0).bytes, bytes, "bytes");
            continue;
          }
          Work work = world.isend(std::span(data).first(bytes), 1, {.synchronous = true});
          loop.run_until([&] { return work.test(); });
          work.wait();
          loop.step_done();
        }
        if (rank == 0) loop.judge_delays("sends");
      },
      loop_options());
  EXPECT_EQ(code, 0) << "seed " << completion_seed;
}

// The function that then() was given may run on the background thread; the loop must hear of it, too.
TEST(EventLoop, CompletionFunctionsWakeThePoll) {
  const SharedPage<Room> room;
  const int code = run_ranks(
      2,
      [&](int rank, int) {
        ProcessGroup world = init();
        world.barrier();
        Bytes data(large_bytes);
        Loop loop(world, *room);
        Random random(completion_seed);
        for (std::int64_t step = 0; step < completion_steps(); ++step) {
          if (rank == 1) {
            await_step(*room, step, random);
            world.send(std::span(data).first(random.one_in(2) ? 8 : large_bytes), 0);
            continue;
          }
          std::atomic<bool> ended{false};
          Work work = world.irecv(data, 1);
          work.then([&](const std::exception_ptr& error) { ended = error == nullptr; });
          loop.run_until([&] { return ended.load(); });
          work.wait();
          loop.step_done();
        }
        if (rank == 0) loop.judge_delays("then()");
      },
      loop_options());
  EXPECT_EQ(code, 0) << "seed " << completion_seed;
}

// Nothing arrives, and another operation stays pending: the deadline itself is the event.
TEST(EventLoop, ADeadlineWakesThePoll) {
  const SharedPage<Room> room;
  const int code = run_ranks(2, [&](int rank, int) {
    ProcessGroup world = init();
    world.barrier();
    if (rank == 0) {
      Loop loop(world, *room);
      int first = 0;
      int second = 0;
      Work pending = world.irecv(first, 1, {.tag = 1});
      Work work = world.irecv(second, 1, {.tag = 2, .timeout = 200ms});
      loop.run_until([&] { return work.test(); });
      expect_throws<TimeoutError>([&] { work.wait(); });
      expect(pending.cancel(), "the other one is still pending");
    }
    world.barrier();
  });
  EXPECT_EQ(code, 0);
}

TEST(EventLoop, ADeathWakesThePoll) {
  const SharedPage<Room> room;
  const int code = run_ranks(2, [&](int rank, int) {
    std::signal(SIGTERM, SIG_IGN);  // spawn() asks the other one to end
    ProcessGroup world = init();
    world.barrier();
    if (rank == 1) {
      await([&] { return room->in_poll.load(); }, "the event loop is in poll()");
      kill(getpid(), SIGKILL);
    }
    Loop loop(world, *room);
    int value = 0;
    Work work = world.irecv(std::span(&value, 1), 1);
    loop.run_until([&] { return work.test(); });
    expect_equal(expect_throws<PeerDiedError>([&] { work.wait(); }).details().culprit, 1, "culprit");
    ++room->done;
  });
  EXPECT_EQ(code, killed_exit_code);
  EXPECT_EQ(room->done, 1);
}

TEST(EventLoop, AnAbortWakesThePoll) {
  const SharedPage<Room> room;
  const int code = run_ranks(2, [&](int rank, int) {
    ProcessGroup world = init();
    world.barrier();
    if (rank == 1) {
      await([&] { return room->in_poll.load(); }, "the event loop is in poll()");
      world.abort("enough");
      return;
    }
    Loop loop(world, *room);
    int value = 0;
    Work work = world.irecv(std::span(&value, 1), 1);
    loop.run_until([&] { return work.test(); });
    expect_contains(expect_throws<AbortedError>([&] { work.wait(); }).what(), "enough");
  });
  EXPECT_EQ(code, 0);
}

// A descriptor that is always readable would pass all tests above, and keep a core busy.
TEST(EventLoop, ThePollSleepsWhileNothingHappens) {
  const SharedPage<std::atomic<bool>> slept;
  const int code = run_ranks(2, [&](int rank, int) {
    ProcessGroup world = init();
    world.barrier();
    if (rank == 1) {
      await([&] { return slept->load(); }, "the other rank's poll() sleeps", 60s);
      return world.send(1, 0);
    }
    int value = 0;
    Work work = world.irecv(std::span(&value, 1), 1);  // keeps the background thread about
    bool quiet = false;
    for (int turn = 0; turn < 50 && !quiet; ++turn) {
      while (world.progress() != 0) continue;
      pollfd entry{world.fd(), POLLIN, 0};
      quiet = poll(&entry, 1, 500) == 0;
    }
    expect(quiet, "fd() stays readable although nothing happens");
    *slept = true;
    work.wait();
  });
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace parley::testing
