#pragma once

#include <functional>

namespace parley::launch {

// Runs a rank's function and leaves its world. Returns the exit code: 0, or 1 after printing the exception of
// either.
int run_rank(int rank, const std::function<void()>& fn);

}  // namespace parley::launch
