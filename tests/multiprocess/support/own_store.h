#pragma once

#include <parley/init.h>

#include <string>

namespace parley::testing {

// "tcp://127.0.0.1:PORT" with a port that was free when asked for, as was the one after it.
[[nodiscard]] std::string free_address();

// Takes the place that spawn() has prepared out of the environment.
void forget_environment();

// Joins a world whose store rank 0 serves at `address`, not the process that spawned the ranks.
[[nodiscard]] ProcessGroup join(const std::string& address, int rank, int count);

}  // namespace parley::testing
