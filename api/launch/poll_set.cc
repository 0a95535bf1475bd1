#include "api/launch/poll_set.h"

#include <ctime>

namespace parley::launch {

void PollSet::wait(base::Deadline deadline) noexcept {
  timespec left{};
  timespec* limit = nullptr;
  if (!deadline.is_never()) {
    const auto ns = deadline.remaining().count();
    left.tv_sec = static_cast<std::time_t>(ns / 1'000'000'000);
    left.tv_nsec = static_cast<long>(ns % 1'000'000'000);
    limit = &left;
  }
  if (ppoll(entries_.data(), entries_.size(), limit, nullptr) < 0) {
    for (pollfd& entry : entries_) entry.revents = 0;
  }
}

}  // namespace parley::launch
