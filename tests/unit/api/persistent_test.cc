// send_init(), recv_init() and their starts, over ranks that are threads. That a steady state allocates
// nothing: tests/budget.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <parley/parley.h>
#include <parley/testing.h>

#include <array>
#include <chrono>
#include <string>
#include <utility>

#include "tests/unit/api/error_text.h"

namespace parley {
namespace {

using testing::error_text;
using ::testing::HasSubstr;
using testing::run_world;

TEST(Persistent, EachStartIsAMessage) {
  run_world(2, [](ProcessGroup& world) {
    int value = -1;
    const Tensor tensor(std::span(&value, 1));
    PersistentRequest request = world.rank() == 0 ? world.send_init(tensor, 1, {.tag = 3})
                                                  : world.recv_init(tensor, any_source, {.tag = 3});
    EXPECT_FALSE(request.is_active());
    for (int i = 0; i < 10; ++i) {
      if (world.rank() == 0) value = i;
      request.start();
      const RecvStatus status = request.wait();
      EXPECT_FALSE(request.is_active());
      EXPECT_EQ(status.tag, 3);
      EXPECT_EQ(status.bytes, sizeof(int));
      EXPECT_EQ(value, i);
    }
  });
}

TEST(Persistent, StartAllStartsThemTogether) {
  run_world(3, [](ProcessGroup& world) {
    const int right = (world.rank() + 1) % 3, left = (world.rank() + 2) % 3;
    std::array<int, 2> out{}, in{};
    std::array<PersistentRequest, 4> requests{
        world.send_init(std::span(&out[0], 1), right), world.recv_init(std::span(&in[0], 1), left),
        world.send_init(std::span(&out[1], 1), left), world.recv_init(std::span(&in[1], 1), right)};
    for (int i = 0; i < 20; ++i) {
      out = {1000 * world.rank() + i, -1000 * world.rank() - i};
      start_all(requests);
      wait_all(requests);
      EXPECT_EQ(in[0], 1000 * left + i);
      EXPECT_EQ(in[1], -1000 * right - i);
    }
    start_all({});
    wait_all(std::span<PersistentRequest>());
  });
}

TEST(Persistent, IsStartedOnceAtATime) {
  run_world(2, [](ProcessGroup& world) {
    int in = 0;
    PersistentRequest request = world.recv_init(std::span(&in, 1), 1 - world.rank());
    request.start();
    EXPECT_TRUE(request.is_active());
    EXPECT_THAT(error_text<UsageError>([&] { request.start(); }), HasSubstr("active"));
    EXPECT_THAT(error_text<UsageError>([&] { start_all(std::span(&request, 1)); }), HasSubstr("active"));
    EXPECT_THROW(request.wait(std::chrono::milliseconds(1)), TimeoutError);
    EXPECT_TRUE(request.is_active());
    EXPECT_TRUE(request.work().cancel());
    EXPECT_THROW(request.wait(), CancelledError);
    EXPECT_FALSE(request.is_active());
    request.start();  // a failed one may be started again
    world.barrier();
    world.send(5, 1 - world.rank());
    request.wait();
    EXPECT_EQ(in, 5);
    PersistentRequest nothing;
    EXPECT_THAT(error_text<UsageError>([&] { nothing.start(); }), HasSubstr("of nothing"));
    nothing = std::move(request);
    EXPECT_FALSE(nothing.is_active());
  });
}

TEST(Persistent, ArgumentsAreCheckedOnce) {
  run_world(2, [](ProcessGroup& world) {
    int value = 0;
    const int fixed = 0;
    EXPECT_THAT(error_text<UsageError>([&] { (void)world.send_init(std::span(&value, 1), 2); }),
                HasSubstr("0 to 1"));
    EXPECT_THROW((void)world.send_init(std::span(&value, 1), 1, {.tag = any_tag}), UsageError);
    EXPECT_THROW((void)world.recv_init(std::span(&fixed, 1), 1), UsageError);
    const ProcessGroup other = world.new_group({1 - world.rank()});
    EXPECT_THROW((void)ProcessGroup(other).recv_init(std::span(&value, 1), 0), UsageError);
  });
}

TEST(Persistent, DroppingAnActiveReceiveTakesItBack) {
  run_world(2, [](ProcessGroup& world) {
    int in = 0;
    const int peer = 1 - world.rank();
    {
      PersistentRequest request = world.recv_init(std::span(&in, 1), peer);
      request.start();
    }
    world.barrier();
    world.send(1, peer);
    EXPECT_EQ(world.recv<int>(peer), 1);
    EXPECT_EQ(in, 0);
  });
}

TEST(Persistent, OutlivesItsGroupsHandles) {
  run_world(2, [](ProcessGroup& world) {
    int value = world.rank();
    PersistentRequest request = [&] {
      ProcessGroup group = world.dup();
      return world.rank() == 0 ? group.send_init(std::span(&value, 1), 1)
                               : group.recv_init(std::span(&value, 1), 0);
    }();
    request.start();
    request.wait();
    EXPECT_EQ(value, 0);
  });
}

}  // namespace
}  // namespace parley
