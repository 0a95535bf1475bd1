#include "bench/relay.h"

#include <sys/socket.h>

#include <cerrno>
#include <system_error>

namespace parley::bench {

Relay::Relay(int ranks) {
  for (int rank = 0; rank < ranks; ++rank) {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
      throw std::system_error(errno, std::generic_category(), "socketpair");
    for (std::size_t run = 0; run < ends.size(); ++run) ends_[run].emplace_back(ends[run]);
  }
}

void Relay::join(std::size_t run) {
  run_ = run;
  ends_[1 - run].clear();
}

void Relay::start(int rank) {
  if (run_ == 1) wait(rank);
}

void Relay::hand_over(int rank) {
  give(rank);
  wait(rank);
}

void Relay::give(int rank) {
  const char turn = 1;
  // Fails when the other run has ended; then wait() does not.
  (void)::send(ends_[run_][static_cast<std::size_t>(rank)].get(), &turn, sizeof turn, MSG_NOSIGNAL);
}

void Relay::wait(int rank) {
  char turn = 0;
  while (::recv(ends_[run_][static_cast<std::size_t>(rank)].get(), &turn, sizeof turn, 0) < 0 &&
         errno == EINTR) {
  }
}

}  // namespace parley::bench
