// How run_world() itself fails.

#include <gtest/gtest.h>
#include <parley/parley.h>
#include <parley/testing.h>
#include <pthread.h>

#include <atomic>
#include <stdexcept>
#include <string>

namespace parley {
namespace {

using testing::run_world;

TEST(RunWorld, ThrowsWhatARankThrows) {
  EXPECT_THROW(run_world(2,
                         [](ProcessGroup& world) {
                           if (world.rank() == 1) throw std::runtime_error("mine");
                         }),
               std::runtime_error);
}

// Ranks 0 and 2 fail because rank 1 has left; that is not what the test's author wants to read.
TEST(RunWorld, ThrowsTheCauseAndNotWhatFollowedFromIt) {
  for (int round = 0; round < 20; ++round) {
    std::string text;
    try {
      run_world(3, [](ProcessGroup& world) {
        if (world.rank() == 1) throw std::runtime_error("the real cause");
        world.recv<int>(1);
      });
    } catch (const std::exception& error) {
      text = error.what();
    }
    EXPECT_EQ(text, "the real cause");
  }
}

TEST(RunWorld, NeedsARankAndAFunction) {
  for (const int size : {0, -1}) EXPECT_THROW(run_world(size, [](ProcessGroup&) {}), UsageError) << size;
  EXPECT_THROW(run_world(1, nullptr), UsageError);
}

// Threads get a stack that is larger than any memory: none can be started.
class NoThreads {
 public:
  NoThreads() {
    pthread_attr_t endless;
    pthread_getattr_default_np(&before_);
    pthread_getattr_default_np(&endless);
    pthread_attr_setstacksize(&endless, std::size_t{1} << 45);
    pthread_setattr_default_np(&endless);
    pthread_attr_destroy(&endless);
  }
  ~NoThreads() {
    pthread_setattr_default_np(&before_);
    pthread_attr_destroy(&before_);
  }

 private:
  pthread_attr_t before_{};
};

TEST(RunWorld, WithoutThreadsForAllRanksNoneBegins) {
  std::atomic<int> calls{0};
  std::string text;
  try {
    const NoThreads none;
    run_world(32, [&](ProcessGroup&) { ++calls; });
  } catch (const ResourceError& error) {
    text = error.what();
  }
  EXPECT_NE(text.find("of 32 threads could be started"), std::string::npos) << text;
  EXPECT_EQ(calls, 0);
}

}  // namespace
}  // namespace parley
