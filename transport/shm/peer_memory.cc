#include "transport/shm/peer_memory.h"

#include <poll.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include "transport/base/log.h"

namespace parley::transport::shm {

using base::Code;
using base::Status;

namespace {

// The time of the last tick of the kernel, 1 to 10 ms ago; for a fifth of what the exact time costs.
std::int64_t coarse_now() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace

PeerMemory::PeerMemory(CrossMemoryTerms terms, int socket, int end_of_life) noexcept
    : terms_(std::move(terms)), socket_(socket), end_of_life_(end_of_life) {}

bool PeerMemory::can_read_now() noexcept {
  if (terms_.we_read != CrossRead::works) return false;
  const CrossRead result = try_cross_read(terms_.own->read, terms_.process, terms_.word_address, terms_.word);
  if (result == CrossRead::not_allowed) (void)give_up_on({Code::io_error, EPERM});
  return result == CrossRead::works;  // else it is about to end, perhaps
}

bool PeerMemory::can_be_copied(base::ConstMemoryRef memory) const noexcept {
  for (const std::byte* const at : {memory.data, memory.data + memory.bytes - 1}) {
    std::byte seen{};
    const auto address = std::uint64_t{reinterpret_cast<std::uintptr_t>(at)};
    if (!terms_.own->read(getpid(), address, {&seen, 1}).ok()) return false;
  }
  return true;
}

Status PeerMemory::read(std::uint64_t address, base::MemoryRef into) const noexcept {
  return terms_.own->read(terms_.process, address, into);
}

bool PeerMemory::was_the_peers() noexcept {
  // Its number may be that of another process by now; but not before its socket and its process have ended,
  // and if they have not, all that was read was the peer's. Nor within the tick in which they were there:
  // numbers come again when all others (32 768 or more) were used, and no host makes so many in one.
  const std::int64_t now = coarse_now();
  if (now == lived_at_) return true;
  if (!peer_lives()) return false;
  lived_at_ = now;
  return true;
}

Status PeerMemory::give_up_on(Status failure) noexcept {
  if (failure.native() == ESRCH && !peer_lives()) return Code::peer_died;
  terms_.we_read = failure.native() == EPERM ? CrossRead::not_allowed : CrossRead::fails;
  PARLEY_LOG(warn, "shm", "the memory of process ", terms_.process, " cannot be read any more (",
             std::generic_category().message(failure.native()),
             "): large messages from it are copied twice from now on");
  return failure;
}

bool PeerMemory::peer_lives() const noexcept {
  // One that is -1 is left out. There may be messages on the socket, so it is asked for its end alone.
  std::array<pollfd, 2> ends{{{socket_, POLLRDHUP, 0}, {end_of_life_, POLLIN, 0}}};
  int ended = 0;
  do {
    ended = ::poll(ends.data(), ends.size(), 0);
  } while (ended < 0 && errno == EINTR);  // a signal may come before it has looked
  return ended == 0;
}

}  // namespace parley::transport::shm
