// What becomes of operations whose handle is cancelled, dropped, or waited for in vain.
#include <gtest/gtest.h>
#include <parley/parley.h>
#include <parley/testing.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

namespace parley {
namespace {

using testing::run_world;
using namespace std::chrono_literals;

constexpr std::size_t offered_bytes = 300'000;  // beyond the eager limit: announced, sent when it is matched

TEST(Work, ADroppedReceiveIsCancelledAndTakesNoMessage) {
  run_world(2, [](ProcessGroup& world) {
    if (world.rank() == 0) {
      std::int32_t dropped = -1;
      { Work work = world.irecv(std::span(&dropped, 1), 1); }
      world.barrier();
      EXPECT_EQ(world.recv<std::int32_t>(1), 4);
      EXPECT_EQ(dropped, -1);
    } else {
      world.barrier();
      world.send(std::int32_t{4}, 0);
    }
  });
}

TEST(Work, ADroppedSendIsDelivered) {
  run_world(2, [](ProcessGroup& world) {
    std::vector<std::uint8_t> data(offered_bytes, static_cast<std::uint8_t>(world.rank() + 1));
    if (world.rank() == 0) {
      { Work work = world.isend(data, 1); }  // waits here until rank 1 has got it
      data.assign(data.size(), 0);
      world.barrier();
    } else {
      world.recv(data, 0);
      EXPECT_EQ(data, std::vector<std::uint8_t>(offered_bytes, 1));
      world.barrier();
    }
  });
}

TEST(Work, WhileAnExceptionUnwindsAnUnmatchedSendIsTakenBack) {
  run_world(2, [](ProcessGroup& world) {
    std::vector<std::uint8_t> data(offered_bytes, 1);
    if (world.rank() == 0) {
      try {
        Work work = world.isend(data, 1, {.tag = 1});
        throw std::runtime_error("in the middle");
      } catch (const std::runtime_error&) {
      }
      world.barrier();
      world.send(data, 1, {.tag = 2});
    } else {
      world.barrier();
      world.recv(data, 0, {.tag = 2});  // the link is as good as before
      EXPECT_FALSE(world.iprobe(0, {.tag = 1}).has_value());
    }
    world.barrier();
  });
}

TEST(Work, CancelTakesBackWhatIsNotMatchedAndNothingElse) {
  run_world(2, [](ProcessGroup& world) {
    std::vector<std::uint8_t> data(offered_bytes, 1);
    if (world.rank() == 0) {
      Work sent = world.isend(data, 1, {.tag = 1});
      EXPECT_TRUE(sent.cancel());
      EXPECT_THROW(sent.wait(), CancelledError);
      EXPECT_THROW(sent.wait(), CancelledError) << "a second wait says the same";
      EXPECT_FALSE(sent.cancel()) << "it has ended";
      Work received = world.irecv(data, 1, {.tag = 1});
      EXPECT_TRUE(received.cancel());
      EXPECT_THROW(received.wait(), CancelledError);
      Work done = world.isend(data, 1, {.tag = 2});
      done.wait();
      EXPECT_FALSE(done.cancel());
    } else {
      world.recv(data, 0, {.tag = 2});
      EXPECT_FALSE(world.iprobe(0, {.tag = 1}).has_value());
    }
    world.barrier();
  });
}

TEST(Work, AWaitThatTimesOutLeavesTheOperationPending) {
  run_world(2, [](ProcessGroup& world) {
    std::vector<Work> works(2);
    std::int32_t values[2] = {};
    if (world.rank() == 0) {
      for (int i = 0; i < 2; ++i)
        works[static_cast<std::size_t>(i)] = world.irecv(std::span(&values[i], 1), 1, {.tag = i});
      EXPECT_THROW(works[0].wait(1ms), TimeoutError);
      EXPECT_THROW(wait_any(works, 1ms), TimeoutError);
      EXPECT_THROW(wait_all(works, 1ms), TimeoutError);
      world.barrier();
      wait_all(works, 30s);
      EXPECT_EQ(values[0] + values[1], 3);
    } else {
      world.barrier();
      world.send(std::int32_t{1}, 0, {.tag = 0});
      world.send(std::int32_t{2}, 0, {.tag = 1});
    }
  });
}

TEST(Work, WaitAllEndsTheOthersAndThrowsTheFirstError) {
  run_world(2, [](ProcessGroup& world) {
    if (world.rank() == 1) {
      world.barrier();
      for (std::int32_t tag = 0; tag < 4; ++tag) {
        const std::vector<std::int32_t> out(tag == 1 ? 2 : 1, tag + 10);
        world.send(out, 0, {.tag = tag});
      }
      return (void)world.barrier();
    }
    std::vector<std::int32_t> values(5);
    std::vector<Work> works;
    for (std::size_t i = 0; i < values.size(); ++i)
      works.push_back(world.irecv(std::span(&values[i], 1), 1, {.tag = static_cast<std::int64_t>(i)}));
    works[4].cancel();
    world.barrier();
    works[3].wait();  // one that is done already
    EXPECT_THROW(wait_all(works), TruncationError) << "the cancelled one comes later";
    EXPECT_EQ(values[0], 10);
    EXPECT_EQ(values[2], 12);
    EXPECT_EQ(works[2].tag(), 2);
    EXPECT_EQ(works[2].bytes(), sizeof(std::int32_t));
    EXPECT_THROW(works[1].wait(), TruncationError) << "again";
    EXPECT_THROW(works[4].wait(), CancelledError);
    EXPECT_THROW(wait_all(works), TruncationError);
    world.barrier();
  });
}

TEST(Work, KeepsTheWorldOfAHandleThatIsGone) {
  std::atomic<bool> gone{false};
  run_world(2, [&](ProcessGroup& world) {
    if (world.rank() == 1) {
      while (!gone) std::this_thread::yield();
      for (std::int32_t tag = 0; tag < 4; ++tag) {
        const std::vector<std::int32_t> out(tag == 2 ? 2 : 1, tag + 1);
        world.send(out, 0, {.tag = tag});
      }
      return;
    }
    std::int32_t values[4] = {};
    std::vector<Work> works;
    for (std::int32_t& value : values)
      works.push_back(world.irecv(std::span(&value, 1), 1, {.tag = &value - values}));
    world = ProcessGroup();
    gone = true;
    wait_all(std::span(works).first(2));
    EXPECT_THROW(works[2].wait(), TruncationError) << "which the world puts in words";
    works[3].wait();  // the last that knows the world
    EXPECT_EQ(std::vector(values, values + 4), (std::vector<std::int32_t>{1, 2, 0, 4}));
  });
}

TEST(Work, ThenAndDetachBothHold) {
  run_world(2, [](ProcessGroup& world) {
    if (world.rank() == 0) {
      auto buffer = std::make_shared<std::vector<std::uint8_t>>(offered_bytes, std::uint8_t{3});
      const std::weak_ptr<void> alive = buffer;
      std::atomic<bool> told{false};
      Work work = world.isend(*buffer, 1);
      work.then([&](std::exception_ptr) { told = !alive.expired(); });
      work.detach(std::move(buffer));
      EXPECT_FALSE(alive.expired()) << "the buffer is still to be sent";
      world.barrier();
      while (!alive.expired()) world.progress();
      EXPECT_TRUE(told);
    } else {
      std::vector<std::uint8_t> in(offered_bytes);
      world.barrier();
      world.recv(in, 0);
      EXPECT_EQ(in, std::vector<std::uint8_t>(offered_bytes, 3));
    }
  });
}

// Its function holds the last handle, and runs on the thread that makes progress while nobody waits.
TEST(Work, TheLastHandleMayBeDroppedByACompletionFunction) {
  std::promise<void> dropped;
  std::atomic<bool> arrived{false};
  std::int32_t in = 0;
  run_world(2, [&](ProcessGroup& world) {
    if (world.rank() == 1) {
      while (!arrived) std::this_thread::yield();
      world.send(std::int32_t{4}, 0);
      return;
    }
    auto last = std::make_shared<ProcessGroup>(std::exchange(world, ProcessGroup()));
    Work work = last->irecv(std::span(&in, 1), 1);
    work.then([last, &dropped](std::exception_ptr error) mutable {
      EXPECT_EQ(error, nullptr);
      last.reset();
      dropped.set_value();
    });
    last.reset();
    work.detach(nullptr);  // the function is the only one left that knows the world
    arrived = true;
    EXPECT_EQ(dropped.get_future().wait_for(30s), std::future_status::ready);
    EXPECT_EQ(in, 4);
  });
}

// Not what such a function is for, but neither it nor the call it runs in may hang.
TEST(Work, ACompletionFunctionThatWaitsIsServed) {
  run_world(2, [](ProcessGroup& world) {
    if (world.rank() == 1) {
      world.send(std::int32_t{1}, 0, {.tag = 1});
      EXPECT_EQ(world.recv<std::int32_t>(0, {.tag = 2}), 2);
      world.send(std::int32_t{3}, 0, {.tag = 3});
      world.send(std::int32_t{4}, 0, {.tag = 4});
      return (void)world.barrier();
    }
    std::int32_t first = 0;
    Work work = world.irecv(first, 1, {.tag = 1});
    std::atomic<int> inside{0};
    work.then([&](const std::exception_ptr&) {
      world.send(std::int32_t{2}, 1, {.tag = 2});
      const auto received = world.recv<std::int32_t>(1, {.tag = 3});
      EXPECT_THROW(world.recv<std::int32_t>(1, {.tag = 9, .timeout = 20ms}), TimeoutError);
      inside = received;
    });
    EXPECT_EQ(world.recv<std::int32_t>(1, {.tag = 4}), 4);
    work.wait();
    while (inside != 3) std::this_thread::yield();
    world.barrier();
  });
}

TEST(Work, NothingToWaitFor) {
  std::vector<Work> none;
  wait_all(none);
  EXPECT_THROW(wait_any(none), UsageError);
  EXPECT_EQ(test_any(none), std::nullopt);
  Work done;
  EXPECT_TRUE(done.test());
  EXPECT_FALSE(done.cancel());
  EXPECT_EQ(done.wait().bytes, 0U);
}

}  // namespace
}  // namespace parley
