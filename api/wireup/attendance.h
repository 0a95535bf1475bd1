#pragma once

#include <parley/store.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "transport/base/deadline.h"

namespace parley::wireup {

// Waits for what the ranks of a round put into the store, and tells whom for. Asks the store for nothing but
// the keys it waits for, and when it has something to tell for notes of refusals and who is missing: a
// thousand ranks that wait for one share the store's one thread.
class Attendance {
 public:
  // `advice` ends the sentence of the error.
  Attendance(Store& store, int rank, int world_size, std::int64_t round, base::Deadline deadline,
             std::string advice);

  // REQUIRES: the r-th of `keys` is what rank r sets, and ours is set. Returns true when all are there; false
  // at `until`. Names the missing ranks every 10 s; throws InitError with the missing and the present ones at
  // the deadline of the whole init().
  bool await(const std::vector<std::string>& keys, base::Deadline until);

  // The same for a key that rank 0 sets when all ranks have set theirs. Those are named, and the store is
  // asked for them, only when there is something to tell; if none of them is missing, rank 0 is. REQUIRES:
  // `own` is a key that this rank has set, and ends in its number.
  using Keys = std::function<std::vector<std::string>()>;
  bool await_rank_0(const std::string& key, const std::string& own, const Keys& keys, base::Deadline until);

 private:
  template <typename Note>
  bool wait_for(const std::vector<std::string>& keys, base::Deadline until, const Note& note);
  void find_missing(const std::vector<std::string>& keys);
  void note_missing(const std::vector<std::string>& keys, const std::string& text);
  [[nodiscard]] std::string standing();

  Store& store_;
  const int rank_;
  const int world_size_;
  const std::int64_t round_;
  const base::Deadline deadline_;
  const std::string advice_;
  base::Deadline next_reminder_;
  std::string seen_;     // who was missing when the store last told
  std::string silence_;  // what came instead of an answer, if none came the last time
};

}  // namespace parley::wireup
