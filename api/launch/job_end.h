#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
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

// What another node of a job on several hosts says about its end.
struct Elsewhere {
  std::string where;     // "node 1 (host-b, pid 4711)"
  std::string sentence;  // "rank 5 failed first: ..."
  int exit_code = 0;     // unless interrupted: what every launcher exits with
};

// How a job ended, as seen from one host. Ranks are places among those of this host here; reports add
// `first_rank`. Pure data; see report.h for its words.
struct JobEnd {
  Cause cause = Cause::all_done;
  std::optional<Elsewhere> elsewhere;   // set: another node brought the end about
  std::string where;                    // the name of this node when there are several
  int first_rank = 0;                   // the rank that ranks[0] is in the job
  int culprit = -1;                     // rank_failed, here: the rank
  int interrupt = 0;                    // interrupted: the signal
  std::vector<int> late;                // timed_out: the ranks that were still running
  std::chrono::nanoseconds elapsed{0};  // until the cause
  std::vector<RankEnd> ranks;

  // What the launcher exits with: the failing rank's code or 128 + its signal; 124 after a timeout; when
  // interrupted, the first bad code of a rank that still chose its own, else 128 + the signal if it ended a
  // rank.
  [[nodiscard]] int exit_code() const;

  // The first of these ranks that a crash has ended, if any.
  [[nodiscard]] std::optional<int> crashed_among(const std::vector<int>& failed) const;
};

inline constexpr int exit_timed_out = 124;

}  // namespace parley::launch
