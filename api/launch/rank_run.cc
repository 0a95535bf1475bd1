#include "api/launch/rank_run.h"

#include <parley/init.h>

#include <cstdio>
#include <exception>
#include <iostream>
#include <string>

namespace parley::launch {
namespace {

void flush_output() {
  std::cout.flush();
  std::cerr.flush();
  std::clog.flush();
  std::fflush(nullptr);
}

// "rank 2: no luck"; Parley's own errors name the rank already.
void print_error(int rank, const std::string& what) {
  const std::string name = "rank " + std::to_string(rank);
  const bool is_named = what.starts_with(name + ' ') || what.starts_with(name + ':');
  std::fprintf(stderr, "%s%s\n", is_named ? "" : (name + ": ").c_str(), what.c_str());
}

// Runs `action`; 0, or 1 after printing its exception.
template <typename Action>
int exit_code_of(int rank, const Action& action) {
  try {
    action();
    return 0;
  } catch (const std::exception& error) {
    print_error(rank, error.what());
  } catch (...) {
    print_error(rank, "an exception that is no std::exception");
  }
  return 1;
}

}  // namespace

int run_rank(int rank, const std::function<void()>& fn) {
  const int code = exit_code_of(rank, fn);
  flush_output();  // leaving the world may take a while; the error should not
  const int leave_code = exit_code_of(rank, [] { destroy(); });
  flush_output();
  return code != 0 ? code : leave_code;
}

}  // namespace parley::launch
