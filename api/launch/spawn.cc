#include <parley/error.h>
#include <parley/init.h>
#include <parley/launch.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <iostream>
#include <string>

#include "api/current_world.h"
#include "api/launch/environment.h"
#include "api/launch/rank_run.h"
#include "api/launch/spawn_calls.h"
#include "api/launch/spawn_order.h"
#include "api/launch/supervisor.h"
#include "transport/base/threads.h"
#include "transport/cuda/runtime.h"

namespace parley {
namespace {

using Function = std::function<void(int, int)>;

void check_arguments(int count, const Function& fn, const SpawnOptions& options) {
  if (count < 1)
    throw UsageError("spawn: the number of processes must be at least 1, not " + std::to_string(count));
  if (!fn) throw UsageError("spawn: the function is empty");
  for (const auto& [name, value] : options.environment) {
    if (const auto complaint = launch::complaint_about(name))
      throw UsageError("spawn: SpawnOptions::environment: " + *complaint);
  }
}

// Whether ranks can be forks of this process.
void check_fork() {
  if (is_initialized())
    throw UsageError(
        "spawn: this process is in a world already; call spawn before init, or destroy() first, or spawn "
        "with {.exec = true}");
  if (cuda::is_in_use())
    throw UsageError(
        "spawn: this process has used CUDA, which does not work in a forked child; call spawn before, or "
        "with {.exec = true}");
  if (const std::size_t threads = base::count_threads(); threads > 1) {
    throw UsageError("spawn: this process has " + std::to_string(threads) +
                     " threads, and a fork would copy the locks they hold; call spawn before starting "
                     "threads, or with {.exec = true}");
  }
}

void check_process(bool exec, const launch::SpawnCall& call) {
  if (detail::CurrentWorld::instance().belongs_to_parent())
    throw ForkedError(
        "spawn: Parley cannot be used in a forked child: the world belongs to the parent process");
  if (!exec) return check_fork();
  if (call.is_nested())
    throw UsageError(
        "spawn: a function that spawn runs cannot call it with {.exec = true}: the program, started again, "
        "would come to the outer call first");
}

launch::Job job_of(int count, const SpawnOptions& options) {
  launch::Job job;
  job.ranks = count;
  job.reporter = "parley::spawn";
  job.program = program_invocation_short_name;
  job.environment = options.environment;
  job.output.prefix = options.prefix_output;
  job.output.log_dir = options.log_dir;
  job.timeout = options.timeout;
  return job;
}

int run_executed(const launch::Job& job, const launch::SpawnCall& call) {
  launch::Reexecution again{launch::own_program(), {}};
  again.order.count = job.ranks;
  again.order.earlier = call.earlier();
  // What was said before the ranks is read before them. Not every stream: a thread may be reading one.
  std::cout.flush();
  std::fflush(stdout);
  return launch::run_job(job, again);
}

int run_forked(const launch::Job& job, launch::SpawnCall& call, const Function& fn) {
  return launch::run_job(job, [&](int rank) {
    call.enter_rank();
    return launch::run_rank(rank, [&] { fn(rank, job.ranks); });
  });
}

// This process was executed for this call.
[[noreturn]] void run_own(launch::SpawnCall& call, int count, const Function& fn) {
  const int rank = launch::own_spawn_order()->rank;
  call.enter_rank();
  _exit(launch::run_rank(rank, [&] {
    launch::report_arrival(count);
    fn(rank, count);
  }));
}

}  // namespace

bool is_spawned() noexcept {
  return launch::own_spawn_order().has_value();
}

int spawn(int count, const Function& fn, const SpawnOptions& options) {
  check_arguments(count, fn, options);
  launch::SpawnCall call;
  if (call.is_earlier()) return call.repeat();
  if (call.is_own()) run_own(call, count, fn);
  try {
    check_process(options.exec, call);
    const launch::Job job = job_of(count, options);
    const int code = options.exec ? run_executed(job, call) : run_forked(job, call, fn);
    call.end(code);
    return code;
  } catch (const UsageError&) {
    call.end(launch::call_was_refused);
    throw;
  } catch (...) {
    call.end(launch::call_has_failed);
    throw;
  }
}

}  // namespace parley
