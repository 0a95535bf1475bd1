#include "bench/slowed.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "tests/unit/bench/mistake.h"

namespace parley::bench {
namespace {

// PARLEY_BENCH_SLOW in a scope.
class Slowness {
 public:
  explicit Slowness(const std::string& word) { ::setenv(variable, word.c_str(), 1); }
  ~Slowness() { ::unsetenv(variable); }
  Slowness(const Slowness&) = delete;
  Slowness& operator=(const Slowness&) = delete;

 private:
  static constexpr const char* variable = "PARLEY_BENCH_SLOW";
};

// Takes a while in each exchange, and knows how long that was.
class Busy {
 public:
  explicit Busy(double& own_us) : own_us_(own_us) {}
  void send() { begin(); }
  void send_window() { begin(); }
  void recv() { end(); }
  void recv_ack() { end(); }
  void exchange_windows() { begin(), end(); }
  void call(int) { begin(), end(); }

 private:
  void begin() { watch_ = Stopwatch(); }
  void end() {
    while (watch_.elapsed_us() < 200) {
    }
    own_us_ = watch_.elapsed_us();
  }
  double& own_us_;
  Stopwatch watch_;
};

template <typename Exchange>
double times_of(const double& own_us, const Exchange& exchange) {
  const Stopwatch watch;
  exchange();
  return watch.elapsed_us() / own_us;
}

// No bound above: beside other work each may take any time.
TEST(Slowed, AnExchangeTakesAtLeastSoManyTimesItsTime) {
  const Slowness slowness("3");
  double own_us = 0;
  Slowed<Busy> system(true, own_us);
  EXPECT_GE(times_of(own_us, [&] { system.send(), system.recv(); }), 2.9);
  EXPECT_GE(times_of(own_us, [&] { system.send_window(), system.recv_ack(); }), 2.9);
  EXPECT_GE(times_of(own_us, [&] { system.exchange_windows(); }), 2.9);
  SlowedCollective<Busy> collective(true, own_us);
  EXPECT_GE(times_of(own_us, [&] { collective.call(0); }), 2.9);
}

TEST(Slowed, KnowsNoSlownessUnlessToldOne) {
  EXPECT_EQ(slowdown(), 1);
  const Slowness slowness("1.25");
  EXPECT_EQ(slowdown(), 1.25);
}

TEST(Slowed, RefusesWhatIsNotFromOneToAHundred) {
  for (const char* word : {"0.9", "101", "-2", "fast", "2x", "", "nan", "inf"}) {
    const Slowness slowness(word);
    EXPECT_EQ(mistake_of([] { slowdown(); }),
              "PARLEY_BENCH_SLOW=" + std::string(word) + ": write a number from 1 to 100");
  }
  for (const char* word : {"1", "100"}) {
    const Slowness slowness(word);
    EXPECT_EQ(slowdown(), std::stod(word));
  }
}

}  // namespace
}  // namespace parley::bench
