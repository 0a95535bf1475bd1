// Parley on an io_context: handlers run where they belong, and run() makes the progress.
#include <gtest/gtest.h>
#include <parley/asio.h>
#include <parley/parley.h>
#include <parley/testing.h>

#include <asio/bind_executor.hpp>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/use_future.hpp>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <thread>
#include <vector>

namespace parley {
namespace {

using testing::run_world;
using namespace std::chrono_literals;

TEST(Asio, TheHandlerIsPostedToItsExecutorWithTheResult) {
  run_world(2, [](ProcessGroup& world) {
    if (world.rank() == 1) {
      world.barrier();
      return world.send(std::int32_t{7}, 0, {.tag = 5});
    }
    asio::io_context context;
    std::int32_t value = 0;
    int calls = 0;
    async_wait(world.irecv(value, 1, {.tag = 5}),
               asio::bind_executor(context, [&](const std::exception_ptr& error, RecvStatus status) {
                 ++calls;
                 EXPECT_FALSE(error);
                 EXPECT_EQ(status.source, 1);
                 EXPECT_EQ(status.tag, 5);
                 EXPECT_EQ(status.bytes, sizeof(value));
               }));
    world.barrier();
    EXPECT_EQ(calls, 0) << "nobody has called run()";
    context.run();  // has work until the handler has run
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(value, 7);
  });
}

TEST(Asio, AnOperationThatHasEndedIsPostedToo) {
  run_world(1, [](ProcessGroup& world) {
    asio::io_context context;
    world.send(std::int32_t{1}, 0);
    std::int32_t value = 0;
    Work work = world.irecv(value, 0);
    work.wait();
    bool called = false;
    async_wait(std::move(work),
               asio::bind_executor(context, [&](const std::exception_ptr&, RecvStatus) { called = true; }));
    EXPECT_FALSE(called);
    context.run();
    EXPECT_TRUE(called);
  });
}

TEST(Asio, AFutureGetsTheErrorAndAMoveOnlyHandlerIsFine) {
  run_world(1, [](ProcessGroup& world) {
    std::int32_t value = 0;
    auto future = async_wait(world.irecv(value, 0, {.timeout = 20ms}), asio::use_future);
    EXPECT_THROW(future.get(), TimeoutError);

    asio::io_context context;
    auto kept = std::make_unique<int>(3);
    world.send(std::int32_t{1}, 0);
    async_wait(world.irecv(value, 0),
               asio::bind_executor(context, [kept = std::move(kept)](const std::exception_ptr&, RecvStatus) {
                 EXPECT_EQ(*kept, 3);
               }));
    context.run();
  });
}

TEST(Asio, AWorkWithACompletionFunctionIsAUsageError) {
  run_world(1, [](ProcessGroup& world) {
    std::int32_t value = 0;
    Work work = world.irecv(value, 0);
    work.then([](const std::exception_ptr&) {});
    EXPECT_THROW(async_wait(std::move(work), asio::use_future).get(), UsageError);
  });
}

// Every wake-up comes through group.fd(): nobody else calls progress() on this rank.
TEST(Asio, AnIoContextDrivesAGroup) {
  static constexpr std::int64_t count = 500;
  run_world(2, [](ProcessGroup& world) {
    std::int64_t value = 0;
    if (world.rank() == 1) {
      for (std::int64_t i = 0; i < count; ++i) {
        world.send(i, 0);
        ASSERT_EQ(world.recv<std::int64_t>(0), i + 1);
      }
      return;
    }
    asio::io_context context;
    auto progress = std::make_unique<AsioProgress>(context, world);
    std::int64_t done = 0;
    std::function<void()> next = [&] {
      async_wait(world.irecv(value, 1),
                 asio::bind_executor(context, [&](const std::exception_ptr& error, RecvStatus) {
                   ASSERT_FALSE(error);
                   world.send(value + 1, 1);
                   if (++done == count)
                     progress.reset();  // run() returns
                   else
                     next();
                 }));
    };
    next();
    context.run();
    EXPECT_EQ(done, count);
  });
}

TEST(Asio, WhileAGroupIsDrivenOtherHandlersRun) {
  run_world(1, [](ProcessGroup& world) {
    asio::io_context context;
    auto progress = std::make_unique<AsioProgress>(context, world);
    asio::steady_timer timer(context, 10ms);
    bool fired = false;
    timer.async_wait([&](const asio::error_code&) {
      fired = true;
      progress.reset();
    });
    context.run();
    EXPECT_TRUE(fired);
  });
}

#ifdef ASIO_HAS_CO_AWAIT
asio::awaitable<void> echo(ProcessGroup world, int count, std::thread::id expected) {
  std::int64_t value = 0;
  for (int i = 0; i < count; ++i) {
    Work receive = world.irecv(value, 1);
    const RecvStatus status = co_await async_wait(std::move(receive), asio::use_awaitable);
    EXPECT_EQ(status.bytes, sizeof(value));
    EXPECT_EQ(std::this_thread::get_id(), expected);
    world.send(value, 1);
  }
}

TEST(Asio, ACoroutineGoesOnOnItsOwnExecutor) {
  static constexpr int count = 100;
  run_world(2, [](ProcessGroup& world) {
    if (world.rank() == 0) {
      asio::io_context context;
      asio::co_spawn(context, echo(world, count, std::this_thread::get_id()), asio::detached);
      context.run();
      return;
    }
    for (std::int64_t i = 0; i < count; ++i) {
      world.send(i, 0);
      ASSERT_EQ(world.recv<std::int64_t>(0), i);
    }
  });
}
#endif

}  // namespace
}  // namespace parley
