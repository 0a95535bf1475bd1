#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace parley::launch {

// How a call of spawn() ended that threw, where others have the code that they returned.
inline constexpr int call_was_refused = -1;  // UsageError
inline constexpr int call_has_failed = -2;   // another one

// A descriptor on which an executed process writes a byte when it has come to its call of spawn().
struct Arrival {
  int fd = -1;
  std::uint64_t inode = 0;  // of the pipe: shows that the number still means it
};

// What a process is for that spawn() has executed. It finds this in its environment.
struct SpawnOrder {
  pid_t launcher = 0;  // who has executed it
  int rank = 0;
  int count = 0;
  Arrival arrival;
  // How the calls of spawn() ended in the launcher that came before the one that is meant.
  std::vector<int> earlier;
};

inline constexpr const char* spawn_order_variable = "PARLEY_SPAWN";

// The form in the environment: numbers with a space between two, in the order of the fields.
std::string encode(const SpawnOrder& order);
std::optional<SpawnOrder> decode_spawn_order(const std::string& text);

// The order that this process was started with, if any. Read before main() begins, so that the program may
// clear its environment. What a process has merely inherited counts for nothing: the order names its parent.
const std::optional<SpawnOrder>& own_spawn_order();

// Tells the launcher that the process has come to its call, one of `count` processes, and takes the order out
// of the environment, lest a program that this one executes believes it. Throws UsageError when the call is
// of another count than the launcher's, or the program has closed the descriptor for that, or has forked
// since. REQUIRES: an order; nobody else uses the environment.
void report_arrival(int count);

}  // namespace parley::launch
