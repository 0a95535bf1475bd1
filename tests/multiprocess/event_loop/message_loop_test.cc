// A rank that learns of messages from poll(fd()) alone: those it probes for and those it has posted receives
// for. The other rank sends at random moments, mostly while the first one is in poll().

#include <gtest/gtest.h>
#include <parley/parley.h>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tests/multiprocess/event_loop/loop.h"
#include "tests/multiprocess/support/ranks.h"

namespace parley::testing {
namespace {

constexpr std::uint64_t seed = 4711;

int steps() {
  return long_tests() ? 20'000 : 400;
}

// Delivered whole, copied, read into place, offered.
constexpr std::size_t sizes[] = {1, 64, 6000, 60'000, 600'000};

using Bytes = std::vector<std::uint8_t>;

std::uint8_t mark(std::int64_t step) {
  return static_cast<std::uint8_t>(step % 251 + 1);
}

// Rank 1: a message a step.
void write_messages(ProcessGroup& world, Room& room) {
  Random random(seed);
  for (std::int64_t step = 0; step < steps(); ++step) {
    const std::size_t bytes = sizes[random.below(std::size(sizes))];
    const Bytes out(bytes, mark(step));
    await_step(room, step, random);
    world.send(out, 0, {.tag = step % 3});
  }
}

void expect_marked(const Bytes& in, std::size_t bytes, std::int64_t step) {
  expect_equal(in.front(), mark(step), "first byte of message " + std::to_string(step));
  expect_equal(in[bytes - 1], mark(step), "last byte of message " + std::to_string(step));
}

TEST(EventLoop, ProbedMessagesWakeThePoll) {
  const SharedPage<Room> room;
  const int code = run_ranks(
      2,
      [&](int rank, int) {
        ProcessGroup world = init();
        world.barrier();
        if (rank == 1) return write_messages(world, *room);
        Loop loop(world, *room);
        for (std::int64_t step = 0; step < steps(); ++step) {
          std::optional<Message> message;
          loop.run_until([&] {
            message = world.iprobe(any_source, {.tag = any_tag});
            return message.has_value();
          });
          expect_equal(message->tag(), step % 3, "tag");
          Bytes in(message->bytes());
          message->recv(in);
          expect_marked(in, in.size(), step);
          loop.step_done();
        }
        loop.judge_delays("probed");
      },
      loop_options());
  EXPECT_EQ(code, 0) << "seed " << seed;
}

TEST(EventLoop, PostedReceivesWakeThePoll) {
  const SharedPage<Room> room;
  const int code = run_ranks(
      2,
      [&](int rank, int) {
        ProcessGroup world = init();
        world.barrier();
        if (rank == 1) return write_messages(world, *room);
        Loop loop(world, *room);
        Bytes in(sizes[std::size(sizes) - 1]);
        for (std::int64_t step = 0; step < steps(); ++step) {
          Work work = world.irecv(in, 1, {.tag = step % 3});
          loop.run_until([&] { return work.test(); });
          expect_marked(in, work.wait().bytes, step);
          loop.step_done();
        }
        loop.judge_delays("posted");
      },
      loop_options());
  EXPECT_EQ(code, 0) << "seed " << seed;
}

// Several are posted beforehand; which one gets the next message is not known to the loop. What test() of one
// takes from the network may end another one.
TEST(EventLoop, OneOfManyPostedReceivesWakesThePoll) {
  const SharedPage<Room> room;
  const int code = run_ranks(
      2,
      [&](int rank, int) {
        ProcessGroup world = init();
        world.barrier();
        if (rank == 1) return write_messages(world, *room);
        Loop loop(world, *room);
        std::vector<Bytes> in(3, Bytes(sizes[std::size(sizes) - 1]));
        std::vector<Work> works(in.size());
        const auto post = [&](std::size_t tag) {
          works[tag] = world.irecv(in[tag], any_source, {.tag = static_cast<std::int64_t>(tag)});
        };
        for (std::size_t tag = 0; tag < works.size(); ++tag) post(tag);
        for (std::int64_t step = 0; step < steps(); ++step) {
          std::optional<std::size_t> ended;
          loop.run_until([&] {
            for (std::size_t tag = 0; tag < works.size() && !ended; ++tag)
              if (works[tag].test()) ended = tag;
            return ended.has_value();
          });
          expect_equal(*ended, static_cast<std::size_t>(step % 3), "tag");
          expect_marked(in[*ended], works[*ended].wait().bytes, step);
          post(*ended);
          loop.step_done();
        }
        loop.judge_delays("one of three");
      },
      loop_options());
  EXPECT_EQ(code, 0) << "seed " << seed;
}

}  // namespace
}  // namespace parley::testing
