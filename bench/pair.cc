#include "bench/pair.h"

#include <unistd.h>

#include <array>
#include <cstdint>
#include <span>
#include <utility>

#include "bench/probe.h"

namespace parley::bench {
namespace {

// The leader's process, the page's descriptor in it, the port it listens on.
using Card = std::array<std::int32_t, 3>;

}  // namespace

Pair make_pair_of(ProcessGroup& group, Idle idle) {
  const int rank = group.rank();
  const int partner = rank ^ 1;
  Card card{};
  if (rank % 2 != 0) {
    group.recv(std::span<std::int32_t>(card), partner);
    SharedMemory page = SharedMemory::open_from(card[0], card[1]);
    RawLink link(connect_raw(static_cast<std::uint16_t>(card[2])), idle);
    return {rank / 2, false, partner, std::move(link), std::move(page)};
  }
  SharedMemory page = SharedMemory::create(Probe::memory_bytes);
  const RawListener listener;
  card = {static_cast<std::int32_t>(::getpid()), page.fd(), listener.port()};
  group.send(std::span<std::int32_t>(card), partner);
  RawLink link(listener.accept(), idle);
  return {rank / 2, true, partner, std::move(link), std::move(page)};
}

}  // namespace parley::bench
