#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "api/launch/poll_set.h"

namespace parley::launch {

// Lines on their way to one descriptor of the launcher, which others own and share. A slow reader is waited
// for by poll, never in write(2), so that the launcher goes on watching its ranks. Thread-safety: none.
class OutputQueue {
 public:
  // Above this many bytes nothing more should be put in: the ranks have to wait.
  static constexpr std::size_t full_bytes = std::size_t{256} * 1024;

  // A descriptor that is not open swallows everything.
  explicit OutputQueue(int fd);

  // Where to append whole lines.
  [[nodiscard]] std::string& pending() noexcept { return pending_; }
  [[nodiscard]] bool full() const noexcept { return pending_.size() - written_ >= full_bytes; }
  [[nodiscard]] bool empty() const noexcept { return pending_.size() == written_; }
  // Nothing is left to write, or it never can be.
  [[nodiscard]] bool settled() const noexcept { return empty() || state_ != State::open; }
  // Nobody reads any more, or the disk is full; what is put in is dropped.
  [[nodiscard]] bool broken() const noexcept { return state_ == State::broken; }

  void watch(PollSet& set);
  // Writes if poll has found room.
  void serve(const PollSet& set);

 private:
  enum class State {
    open,        // lines are written
    swallowing,  // the launcher was started without this descriptor; lines are dropped
    broken,      // a write failed; lines are dropped and the ranks shall learn of it
  };
  void write_some();

  int fd_;
  std::size_t chunk_bytes_;
  State state_ = State::open;
  std::string pending_;
  std::size_t written_ = 0;  // bytes at the front of pending_ that have left
  std::size_t place_ = 0;    // in the poll set, while watched_
  bool watched_ = false;
};

// Whether two descriptors lead to the same file, pipe or terminal, so that their lines could mix.
bool same_file(int a, int b) noexcept;

}  // namespace parley::launch
