#pragma once

#include <sys/types.h>

#include <chrono>
#include <vector>

#include "api/launch/exit_status.h"

namespace parley::launch {

// How one rank ended.
struct RankEnd {
  pid_t pid = 0;
  ExitStatus status;
  int launcher_signal = 0;  // the last signal the launcher had sent it before; 0: it ended on its own
};

// Why a job ended.
enum class Cause {
  all_done,     // every rank ended by itself, with code 0
  rank_failed,  // a rank failed while nobody was being ended
  timed_out,    // the job's time was up
  interrupted,  // the launcher was sent a signal, which it passed on
};

// How a job ended. Pure data; see report.h for its words.
struct JobEnd {
  Cause cause = Cause::all_done;
  int culprit = -1;                     // rank_failed: the rank
  int interrupt = 0;                    // interrupted: the signal
  std::vector<int> late;                // timed_out: the ranks that were still running
  std::chrono::nanoseconds elapsed{0};  // until the cause
  std::vector<RankEnd> ranks;

  // What the launcher exits with: the failing rank's code or 128 + its signal; 124 after a timeout; when
  // interrupted, the first bad code of a rank that still chose its own, else 128 + the signal if it ended a
  // rank.
  [[nodiscard]] int exit_code() const;
};

inline constexpr int exit_timed_out = 124;

}  // namespace parley::launch
