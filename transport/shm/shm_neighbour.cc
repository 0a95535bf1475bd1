#include "transport/shm/shm_neighbour.h"

#include <cerrno>
#include <cstddef>
#include <cstring>

namespace parley::transport::shm {

std::optional<RemoteKey> ShmNeighbour::key_of(base::ConstMemoryRef memory) const noexcept {
  const std::optional<ArenaPlace> place = arenas_.find(memory);
  if (!place) return std::nullopt;
  RemoteKey key;
  static_assert(sizeof(*place) <= sizeof(key.bytes));
  // Without what may stand between the two: equal places have equal keys.
  std::memcpy(key.bytes.data() + offsetof(ArenaPlace, segment), &place->segment, sizeof(place->segment));
  std::memcpy(key.bytes.data() + offsetof(ArenaPlace, offset), &place->offset, sizeof(place->offset));
  return key;
}

Neighbour::Sight ShmNeighbour::show(base::ConstMemoryRef memory) noexcept {
  if (arenas_.show(memory)) return Sight::sees;
  return arenas_.is_refused(memory) ? Sight::refuses : Sight::asked;
}

std::shared_ptr<const std::byte> ShmNeighbour::look(const RemoteKey& key, std::size_t bytes) const noexcept {
  ArenaPlace place;
  std::memcpy(&place, key.bytes.data(), sizeof(place));
  return arenas_.keep(place, bytes);
}

std::optional<RemoteKey> ShmNeighbour::key_for_copies(base::ConstMemoryRef memory) const noexcept {
  if (memory_.peer_reads() != CrossRead::works || !memory_.can_be_copied(memory)) return std::nullopt;
  RemoteKey key;
  const std::uint64_t address = reinterpret_cast<std::uintptr_t>(memory.data);
  std::memcpy(key.bytes.data(), &address, sizeof(address));
  return key;
}

base::Status ShmNeighbour::copy(const RemoteKey& key, std::size_t offset, base::MemoryRef into) noexcept {
  std::uint64_t address = 0;
  std::memcpy(&address, key.bytes.data(), sizeof(address));
  if (memory_.we_read() != CrossRead::works) return base::Code::unreachable;
  if (const base::Status status = memory_.read(address + offset, into); !status.ok()) {
    if (status.native() == ESRCH)
      return base::Code::peer_died;  // or is about to end; no rank goes on without its first thread
    return status.native() == EFAULT ? status : memory_.give_up_on(status);
  }
  return memory_.was_the_peers() ? base::Status() : base::Status(base::Code::peer_died);
}

}  // namespace parley::transport::shm
