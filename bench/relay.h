#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "transport/base/unique_fd.h"

namespace parley::bench {

// Two runs of equally many ranks that take turns: while one measures, all ranks of the other sleep. Rank r of
// one hands over to rank r of the other, through a socket pair of their own; a run that has ended, however,
// is waited for no longer. Made by one process, copied by fork. Thread-safety: none.
class Relay {
 public:
  // Throws std::system_error.
  explicit Relay(int ranks);

  // In the process that starts the ranks of run 0 or 1, before it does: keeps the ends of that run alone.
  void join(std::size_t run);

  // At the beginning of each rank of a run: the ranks of run 1 wait here for their first turn.
  void start(int rank);
  // Lets the other run go on until it does the same, or has ended.
  void hand_over(int rank);

 private:
  void give(int rank);
  void wait(int rank);

  std::array<std::vector<base::UniqueFd>, 2> ends_;  // of each run, rank by rank
  std::size_t run_ = 0;
};

}  // namespace parley::bench
