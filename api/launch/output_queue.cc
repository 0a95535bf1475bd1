#include "api/launch/output_queue.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>

#include "api/launch/pipe.h"

namespace parley::launch {
namespace {

constexpr std::size_t file_chunk_bytes = std::size_t{64} * 1024;

// The descriptor may be shared with other processes, so it is not made non-blocking. A pipe that poll calls
// writable takes PIPE_BUF bytes without blocking; a file takes everything.
std::size_t chunk_bytes_of(int fd) noexcept {
  struct stat info {};
  const bool is_file = fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
  return is_file ? file_chunk_bytes : PIPE_BUF;
}

}  // namespace

OutputQueue::OutputQueue(int fd) : fd_(fd), chunk_bytes_(chunk_bytes_of(fd)) {
  if (fcntl(fd, F_GETFD) < 0) state_ = State::swallowing;
}

void OutputQueue::watch(PollSet& set) {
  if (state_ != State::open) {
    pending_.clear();
    written_ = 0;
  }
  watched_ = !empty();
  if (watched_) place_ = set.add(fd_, POLLOUT);
}

void OutputQueue::serve(const PollSet& set) {
  if (watched_ && set.events(place_) != 0) write_some();
  watched_ = false;
}

void OutputQueue::write_some() {
  const std::string_view left = std::string_view(pending_).substr(written_);
  const ssize_t written = write_quietly(fd_, left.substr(0, std::min(left.size(), chunk_bytes_)));
  if (written < 0) {
    // Somebody else made the descriptor non-blocking: poll again.
    if (errno != EAGAIN) state_ = State::broken;
    return;
  }
  written_ += static_cast<std::size_t>(written);
  if (empty() || written_ >= full_bytes) {
    pending_.erase(0, written_);
    written_ = 0;
  }
}

bool same_file(int a, int b) noexcept {
  struct stat first {};
  struct stat second {};
  return fstat(a, &first) == 0 && fstat(b, &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

}  // namespace parley::launch
