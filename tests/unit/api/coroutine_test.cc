// co_await on operations: they give their result or their error, on whichever thread makes progress.
#include <gtest/gtest.h>
#include <parley/coroutine.h>
#include <parley/parley.h>
#include <parley/testing.h>

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "tests/unit/api/task.h"

namespace parley {
namespace {

using testing::run_world;
using testing::Task;
using namespace std::chrono_literals;

Task receive_one(ProcessGroup world, std::int32_t& value, RecvStatus& status) {
  status = co_await world.irecv(value, 1, {.tag = 3});
}

TEST(Await, ASuspendedReceiveGoesOnWithItsResult) {
  run_world(2, [](ProcessGroup& world) {
    if (world.rank() == 0) {
      std::int32_t value = 0;
      RecvStatus status;
      Task task = receive_one(world, value, status);
      EXPECT_FALSE(task.ended()) << "rank 1 sends after the barrier";
      world.barrier();
      task.get();  // the background thread makes progress meanwhile
      EXPECT_EQ(value, 42);
      EXPECT_EQ(status.source, 1);
      EXPECT_EQ(status.tag, 3);
      EXPECT_EQ(status.bytes, sizeof(value));
    } else {
      world.barrier();
      world.send(std::int32_t{42}, 0, {.tag = 3});
    }
  });
}

Task note_thread(Work work, std::thread::id& id) {
  co_await work;
  id = std::this_thread::get_id();
}

TEST(Await, WhatHasEndedIsNotSuspended) {
  run_world(1, [](ProcessGroup& world) {
    world.send(std::int32_t{1}, 0);
    std::int32_t value = 0;
    std::thread::id id;
    Task task = note_thread(world.irecv(value, 0), id);
    EXPECT_TRUE(task.ended());
    EXPECT_EQ(id, std::this_thread::get_id());
    EXPECT_EQ(value, 1);
    note_thread(Work(), id).get();
  });
}

// Who makes progress resumes: here the thread that waits for another message.
Task answer(ProcessGroup world, int count) {
  std::int64_t value = 0;
  for (int i = 0; i < count; ++i) {
    co_await world.irecv(value, 1, {.tag = 1});
    ++value;
    co_await world.isend(value, 1, {.tag = 2});
  }
}

TEST(Await, ManyInARowFromWhicheverThread) {
  constexpr int count = 2000;
  run_world(2, [](ProcessGroup& world) {
    if (world.rank() == 0) {
      Task task = answer(world, count);
      world.recv<std::int32_t>(1, {.tag = 9});
      task.get();
    } else {
      for (std::int64_t i = 0; i < count; ++i) {
        world.send(i * 10, 0, {.tag = 1});
        ASSERT_EQ(world.recv<std::int64_t>(0, {.tag = 2}), i * 10 + 1);
      }
      world.send(std::int32_t{0}, 0, {.tag = 9});
    }
  });
}

Task expect_timeout(ProcessGroup world, bool& thrown) {
  std::int32_t value = 0;
  try {
    co_await world.irecv(value, 0, {.timeout = 20ms});
  } catch (const TimeoutError& error) {
    thrown = error.details().peer == 0;
  }
}

TEST(Await, AnErrorIsThrownInTheCoroutine) {
  run_world(1, [](ProcessGroup& world) {
    bool thrown = false;
    expect_timeout(world, thrown).get();
    EXPECT_TRUE(thrown);
  });
}

Task await_reference(Work& work) {
  co_await work;
}

TEST(Await, AnAwaitedReferenceIsDoneAfterwardsAndCanBeCancelled) {
  run_world(1, [](ProcessGroup& world) {
    std::int32_t value = 0;
    Work work = world.irecv(value, 0);
    Task task = await_reference(work);
    EXPECT_FALSE(task.ended());
    EXPECT_TRUE(work.cancel());
    EXPECT_THROW(task.get(), CancelledError);
    EXPECT_TRUE(work.test());
    EXPECT_THROW(work.wait(), CancelledError);
  });
}

TEST(Await, OnlyOneMayWaitForAWork) {
  run_world(1, [](ProcessGroup& world) {
    std::int32_t value = 0;
    Work work = world.irecv(value, 0);
    std::atomic<int> calls{0};
    work.then([&](const std::exception_ptr&) { ++calls; });
    EXPECT_THROW(await_reference(work).get(), UsageError);
    world.send(std::int32_t{1}, 0);
    work.wait();
    while (calls == 0) world.progress();
    EXPECT_EQ(calls, 1);
  });
}

// The coroutine destroys the Work, and ends, inside the completion function.
TEST(Await, AtTheEndOfAWorldEverySuspendedCoroutineHasEnded) {
  std::vector<Task> tasks;
  std::vector<std::int32_t> values(100);
  try {
    run_world(2, [&](ProcessGroup& world) {
      if (world.rank() == 1) throw std::runtime_error("rank 1 leaves");
      for (auto& value : values)
        tasks.push_back([](ProcessGroup group, std::int32_t& into) -> Task { co_await group.irecv(into, 1); }(
                                                                       world, value));
      std::int32_t never = 0;
      EXPECT_THROW(world.recv(std::span(&never, 1), 1), Error);
    });
    FAIL() << "rank 1 has thrown";
  } catch (const std::runtime_error&) {
  }
  for (Task& task : tasks) EXPECT_THROW(task.get(), Error);
}

}  // namespace
}  // namespace parley
