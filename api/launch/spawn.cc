#include <parley/error.h>
#include <parley/init.h>
#include <parley/launch.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <iostream>
#include <string>

#include "api/current_world.h"
#include "api/launch/environment.h"
#include "api/launch/supervisor.h"
#include "transport/base/threads.h"
#include "transport/cuda/runtime.h"

namespace parley {
namespace {

void check_usage(int count, const std::function<void(int, int)>& fn, const SpawnOptions& options) {
  if (count < 1)
    throw UsageError("spawn: the number of processes must be at least 1, not " + std::to_string(count));
  if (!fn) throw UsageError("spawn: the function is empty");
  for (const auto& [name, value] : options.environment) {
    if (const auto complaint = launch::complaint_about(name))
      throw UsageError("spawn: SpawnOptions::environment: " + *complaint);
  }
  if (detail::CurrentWorld::instance().belongs_to_parent())
    throw ForkedError(
        "spawn: Parley cannot be used in a forked child: the world belongs to the parent process");
  if (is_initialized())
    throw UsageError("spawn: this process is in a world already; call spawn before init, or destroy() first");
  if (cuda::is_in_use())
    throw UsageError(
        "spawn: this process has used CUDA, which does not work in a forked child; call spawn before, or "
        "start "
        "the ranks by parley-run");
  if (const std::size_t threads = base::count_threads(); threads > 1) {
    throw UsageError(
        "spawn: this process has " + std::to_string(threads) +
        " threads, and a fork would copy the locks they hold; call spawn before starting threads");
  }
}

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

int run_rank(const std::function<void(int, int)>& fn, int rank, int count) {
  const int code = exit_code_of(rank, [&] { fn(rank, count); });
  flush_output();  // leaving the world may take a while; the error should not
  const int leave_code = exit_code_of(rank, [] { destroy(); });
  flush_output();
  return code != 0 ? code : leave_code;
}

}  // namespace

int spawn(int count, const std::function<void(int rank, int count)>& fn, const SpawnOptions& options) {
  check_usage(count, fn, options);
  launch::Job job;
  job.ranks = count;
  job.reporter = "parley::spawn";
  job.program = program_invocation_short_name;
  job.environment = options.environment;
  job.output.prefix = options.prefix_output;
  job.output.log_dir = options.log_dir;
  job.timeout = options.timeout;
  return launch::run_job(job, [&](int rank) { return run_rank(fn, rank, count); });
}

}  // namespace parley
