#include "bench/pair.h"

#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "bench/gate.h"
#include "bench/probe.h"

namespace parley::bench {
namespace {

// The leader's process, the page's descriptor in it, the port it listens on.
using Card = std::array<std::int32_t, 3>;

}  // namespace

void* Pair::gate_flags() const noexcept {
  return static_cast<std::byte*>(page.data()) + Probe::memory_bytes;
}

Pair make_pair_of(World& world, Idle idle) {
  const int rank = world.rank();
  const int partner = rank ^ 1;
  if (rank % 2 != 0) {
    const Card card = world.recv_value<Card>(partner);
    SharedMemory page = SharedMemory::open_from(card[0], card[1]);
    RawLink link(connect_raw(static_cast<std::uint16_t>(card[2])), idle);
    return {rank / 2, false, partner, std::move(link), std::move(page)};
  }
  SharedMemory page = SharedMemory::create(Probe::memory_bytes + 2 * Gate::bytes_per_rank);
  const RawListener listener;
  if (partner == world.size()) {
    base::UniqueFd other_end = connect_raw(listener.port());
    return {rank / 2, true, rank, RawLink(listener.accept(), idle), std::move(page), std::move(other_end)};
  }
  world.send_value(Card{static_cast<std::int32_t>(::getpid()), page.fd(), listener.port()}, partner);
  RawLink link(listener.accept(), idle);
  return {rank / 2, true, partner, std::move(link), std::move(page)};
}

}  // namespace parley::bench
