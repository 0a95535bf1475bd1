#pragma once

#include <parley/error.h>
#include <parley/launch.h>
#include <parley/process_group.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>

#include "tests/long_tests.h"

namespace parley::testing {

// Assertions of GoogleTest are lost in a forked rank. There, what is not as expected is thrown; spawn()
// prints it and reports the rank.
class Unexpected : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

inline void expect(bool condition, const std::string& what) {
  if (!condition) throw Unexpected("not as expected: " + what);
}

template <typename A, typename B>
void expect_equal(const A& actual, const B& expected, const std::string& what) {
  if (actual == expected) return;
  throw Unexpected(what + ": " + std::to_string(actual) + " instead of " + std::to_string(expected));
}

inline void expect_contains(std::string_view text, std::string_view part) {
  if (text.find(part) == std::string_view::npos)
    throw Unexpected("'" + std::string(part) + "' is not in: " + std::string(text));
}

// The error that `action` throws.
template <typename Error, typename Action>
Error expect_throws(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error;
  } catch (const std::exception& error) {
    throw Unexpected(std::string("an exception of another type: ") + error.what());
  }
  throw Unexpected("no exception");
}

// A barrier of all ranks after which `mortal` may die at once: it returns there when all others are through.
// Who is still in a barrier fails with its group's collectives, though all have come.
inline void barrier_before_death(ProcessGroup& world, int mortal) {
  constexpr std::int64_t tag = 771;
  world.barrier();
  if (world.rank() != mortal) return world.send(0, mortal, {.tag = tag});
  for (int other = 0; other < world.size(); ++other)
    if (other != mortal) (void)world.recv<int>(other, {.tag = tag});
}

// All ranks come here, and none goes on before all have returned from the collectives before: for tests in
// which one of them fails next, with which who is still in a barrier would fail, too.
inline void await_return_of_all(ProcessGroup& group) {
  for (int other = 0; other < group.size(); ++other)
    if (other != group.rank()) group.send(0, other);
  for (int other = 0; other < group.size(); ++other)
    if (other != group.rank()) (void)group.recv<int>(other);
}

// What rank 0 says, so that all go on or stop in the same round.
inline bool agree(ProcessGroup& world, bool over) {
  constexpr std::int64_t tag = 1'000'000;
  if (world.rank() != 0) return world.recv<bool>(0, {.tag = tag});
  for (int other = 1; other < world.size(); ++other) world.send(over, other, {.tag = tag});
  return over;
}

struct RanksOptions {
  std::chrono::seconds timeout{60};  // the watchdog's, multiplied by slowness()
  std::map<std::string, std::string> environment = {};
};

// Ranks that are linked by shared memory alone.
inline const RanksOptions over_shm{.environment = {{"PARLEY_TRANSPORTS", "shm"}}};

// Ranks that link when they first need it, as those of large worlds do.
inline const RanksOptions on_demand{.environment = {{"PARLEY_FULL_MESH_LIMIT", "0"}}};

// How much slower than a release build this one is (sanitizers).
[[nodiscard]] int slowness();

// Runs `rank_main(rank, count)` in `count` processes with a watchdog; returns what spawn() returns. Call it
// from the only thread of the test.
[[nodiscard]] int run_ranks(int count, const std::function<void(int rank, int count)>& rank_main,
                            const RanksOptions& options = {});

// What that is when a rank was killed.
inline constexpr int killed_exit_code = 128 + SIGKILL;

// Ends this process as kill -9 does.
[[noreturn]] void die();

}  // namespace parley::testing
