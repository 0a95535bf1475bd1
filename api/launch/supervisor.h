#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <variant>

#include "api/launch/environment.h"
#include "api/launch/job_output.h"
#include "api/launch/node_place.h"
#include "api/launch/program.h"
#include "api/launch/spawn_order.h"

namespace parley::launch {

class SignalSource;

// Ranks that are this host's programs, executed: what each is, and what it is told of the call of spawn()
// that it is for (its rank is filled in).
struct Reexecution {
  Program program;
  SpawnOrder order;
};

// What a rank does: calls a function in a fork of this process, whose result is its exit code; or a program.
using RankBody = std::variant<std::function<int(int rank)>, Reexecution>;

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

// Runs `body` in one new process per rank, each with the environment that parley::init() reads, serves
// their store, carries their output, and returns when all have ended. Returns the job's exit code (see
// JobEnd) after reporting on standard error what went wrong.
//
// The first rank that fails ends the job: the others get SIGTERM, and SIGKILL after the grace time. So does
// the timeout. A signal from `signals` is passed on to all ranks and has the same consequence; a second
// SIGINT kills at once. Whatever happens, no process of the job is left when this returns, nor when this
// process is killed (see Guardian for the limits).
//
// With `nodes`, the ranks begin when the launchers of all nodes have come, and the job ends for all of them
// as the first one says (see NodeLink); each returns the same code, unless the job was interrupted.
//
// REQUIRES: if the ranks are forks, this process has one thread; if they are programs, one node. Throws
// UsageError when SIGCHLD is ignored, SystemError, StoreError or InitError when the job cannot be started;
// then nothing of it is left.
int run_job(const Job& job, const RankBody& body);

}  // namespace parley::launch
