#pragma once

#include <poll.h>

#include <cstddef>
#include <vector>

#include "transport/base/deadline.h"

namespace parley::launch {

// The descriptors that one poll(2) call waits for. Filled anew before each call. Thread-safety: none.
class PollSet {
 public:
  void clear() noexcept { entries_.clear(); }
  // Returns the entry's place, to ask for its events afterwards.
  std::size_t add(int fd, short events) {
    entries_.push_back({fd, events, 0});
    return entries_.size() - 1;
  }
  // Waits until an entry has an event or the deadline has passed. A signal handler's interruption counts as
  // no event.
  void wait(base::Deadline deadline) noexcept;
  // What happened; POLLERR, POLLHUP and POLLNVAL come unasked.
  [[nodiscard]] short events(std::size_t place) const noexcept { return entries_[place].revents; }

 private:
  std::vector<pollfd> entries_;
};

}  // namespace parley::launch
