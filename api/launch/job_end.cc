#include "api/launch/job_end.h"

namespace parley::launch {
namespace {

int exit_code_of_interrupted(const JobEnd& end) {
  bool ended_by_launcher = false;
  for (const RankEnd& rank : end.ranks) {
    if (rank.status.code != 0) return rank.status.code;
    if (rank.status.signal_number != 0) ended_by_launcher = true;
  }
  return ended_by_launcher ? 128 + end.interrupt : 0;
}

}  // namespace

int JobEnd::exit_code() const {
  switch (cause) {
    case Cause::all_done: return 0;
    case Cause::rank_failed:
      if (elsewhere) return elsewhere->exit_code;
      return ranks[static_cast<std::size_t>(culprit)].status.shell_code();
    case Cause::timed_out: return exit_timed_out;
    case Cause::interrupted: return exit_code_of_interrupted(*this);
  }
  return 1;
}

std::optional<int> JobEnd::crashed_among(const std::vector<int>& failed) const {
  for (const int rank : failed)
    if (ranks[static_cast<std::size_t>(rank)].status.is_crash()) return rank;
  return std::nullopt;
}

}  // namespace parley::launch
