#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "api/launch/environment.h"
#include "api/launch/job_output.h"
#include "api/launch/node_place.h"

namespace parley::launch {

class SignalSource;

// What to run and how. Times are durations, "never" is nanoseconds::max().
struct Job {
  int ranks = 1;
  std::string reporter = "parley-run";  // who speaks in reports
  std::string program;                  // what the ranks run, for reports
  Environment environment;              // further variables for every rank
  OutputOptions output;
  std::chrono::nanoseconds timeout = std::chrono::nanoseconds::max();
  std::chrono::nanoseconds grace = std::chrono::seconds(5);  // between SIGTERM and SIGKILL
  SignalSource* signals = nullptr;                           // whose signals to pass on; none in a library
  std::optional<NodePlace> nodes = std::nullopt;  // set: `ranks` are this host's part of a larger job
};

// Runs `body(rank)` in one new process per rank, each with the environment that parley::init() reads, serves
// their store, carries their output, and returns when all have ended. Body's result is the rank's exit code.
// Returns the job's exit code (see JobEnd) after reporting on standard error what went wrong.
//
// The first rank that fails ends the job: the others get SIGTERM, and SIGKILL after the grace time. So does
// the timeout. A signal from `signals` is passed on to all ranks and has the same consequence; a second
// SIGINT kills at once. Whatever happens, no process of the job is left when this returns, nor when this
// process is killed (see Guardian for the limits).
//
// With `nodes`, the ranks begin when the launchers of all nodes have come, and the job ends for all of them
// as the first one says (see NodeLink); each returns the same code, unless the job was interrupted.
//
// REQUIRES: this process has one thread. Throws UsageError when SIGCHLD is ignored, SystemError,
// StoreError or InitError when the job cannot be started; then nothing of it is left.
int run_job(const Job& job, const std::function<int(int rank)>& body);

}  // namespace parley::launch
