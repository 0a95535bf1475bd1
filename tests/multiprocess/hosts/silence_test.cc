// A network that falls silent between two hosts: for good, or for a while.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <string>
#include <thread>

#include "tests/multiprocess/hosts/two_hosts.h"
#include "tests/multiprocess/launch/command.h"
#include "tests/multiprocess/support/ranks.h"

namespace parley::testing {
namespace {

using namespace std::chrono_literals;
using launch::testing::Command;
using launch::testing::CommandOptions;
using ::testing::HasSubstr;

class Silence : public ::testing::Test {
 protected:
  Silence() { hosts_.join("eth0", {"10.7.0.1/24"}, "eth0", {"10.7.0.2/24"}); }
  ~Silence() override { std::remove(stop_file_.c_str()); }

  CommandOptions place(int rank) const {
    CommandOptions options;
    options.environment = {
        {"MASTER_ADDR", "10.7.0.1"}, {"MASTER_PORT", "29500"},
        {"WORLD_SIZE", "2"},         {"RANK", std::to_string(rank)},
        {"STOP_FILE", stop_file_},   {"PARLEY_SECRET", "what both hosts of this test know"}};
    return options;
  }
  void cut() const { hosts_.a.ip({"link", "set", "eth0", "down"}); }
  void mend() const { hosts_.a.ip({"link", "set", "eth0", "up"}); }

  // Both ranks name the other one, in time.
  void expect_loss(const std::string& what) const {
    Command a(hosts_.a.on({PARLEY_LINK_PROBE_PROGRAM, what}), place(0));
    Command b(hosts_.b.on({PARLEY_LINK_PROBE_PROGRAM, what}), place(1));
    ASSERT_TRUE(a.await_output("linked")) << a.errors();
    ASSERT_TRUE(b.await_output("linked")) << b.errors();
    std::this_thread::sleep_for(300ms);
    cut();
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_TRUE(a.await_output("lost: rank 1")) << a.output() << a.errors();
    EXPECT_TRUE(b.await_output("lost: rank 0")) << b.output() << b.errors();
    const auto took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin);
    std::printf("%s: both hosts noticed within %.2f s\n", what.c_str(), took.count());
    EXPECT_LT(took, (long_tests() ? 6s : 20s) * slowness());
    EXPECT_GT(took, 4s) << "an interruption is not a loss";
    EXPECT_EQ(a.finish(), 0);
    EXPECT_EQ(b.finish(), 0);
  }

  const std::string stop_file_ = ::testing::TempDir() + "parley-stop-" + std::to_string(getpid());
  TwoHosts hosts_;
};

TEST_F(Silence, OfAHostIsADeathForThoseWhoWait) {
  expect_loss("wait");
}

TEST_F(Silence, OfAHostIsADeathInTheMiddleOfAStream) {
  expect_loss("stream");
}

// The host is gone before anything was dialled. Host-a sees no route, host-b hears nothing.
TEST_F(Silence, OfAHostIsADeathForThoseWhoWereNotLinkedYet) {
  const auto unlinked = [&](int rank) {
    auto options = place(rank);
    options.environment["PARLEY_FULL_MESH_LIMIT"] = "0";
    return options;
  };
  Command a(hosts_.a.on({PARLEY_LINK_PROBE_PROGRAM, "late"}), unlinked(0));
  Command b(hosts_.b.on({PARLEY_LINK_PROBE_PROGRAM, "late"}), unlinked(1));
  ASSERT_TRUE(a.await_output("joined")) << a.errors();
  ASSERT_TRUE(b.await_output("joined")) << b.errors();
  cut();
  std::fclose(std::fopen(stop_file_.c_str(), "w"));
  ASSERT_TRUE(a.await_output("begun")) << a.errors();
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_TRUE(a.await_output("lost: rank 1")) << a.output() << a.errors();
  EXPECT_TRUE(b.await_output("lost: rank 0")) << b.output() << b.errors();
  const auto took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin);
  std::printf("late: both hosts noticed within %.2f s\n", took.count());
  // 6 s of dialling, and 3 s at most until the store, which was on the other host, is given up.
  EXPECT_LT(took, (long_tests() ? 12s : 25s) * slowness());
  EXPECT_GT(took, 4s) << "an interruption is not a loss";
  EXPECT_THAT(b.output(), HasSubstr("no answer (a firewall?)"));
  EXPECT_EQ(a.finish(), 0);
  EXPECT_EQ(b.finish(), 0);
}

TEST_F(Silence, Of3SecondsPasses) {
  Command a(hosts_.a.on({PARLEY_LINK_PROBE_PROGRAM, "stream"}), place(0));
  Command b(hosts_.b.on({PARLEY_LINK_PROBE_PROGRAM, "stream"}), place(1));
  ASSERT_TRUE(a.await_output("round")) << a.errors();
  cut();
  std::this_thread::sleep_for(3s);
  mend();
  std::fclose(std::fopen(stop_file_.c_str(), "w"));
  EXPECT_TRUE(a.await_output("done")) << a.output() << a.errors();
  EXPECT_TRUE(b.await_output("done")) << b.output() << b.errors();
  EXPECT_EQ(a.finish(), 0);
  EXPECT_EQ(b.finish(), 0);
}

}  // namespace
}  // namespace parley::testing
