#include "transport/shm/arena_neighbour.h"

#include <cstring>

namespace parley::transport::shm {

std::optional<RemoteKey> ArenaNeighbour::key_of(base::ConstMemoryRef memory) const noexcept {
  const std::optional<ArenaPlace> place = arenas_.find(memory);
  if (!place) return std::nullopt;
  RemoteKey key;
  static_assert(sizeof(*place) <= sizeof(key.bytes));
  std::memcpy(key.bytes.data(), &*place, sizeof(*place));
  return key;
}

Neighbour::Sight ArenaNeighbour::show(base::ConstMemoryRef memory) noexcept {
  if (arenas_.show(memory)) return Sight::sees;
  return arenas_.is_refused(memory) ? Sight::refuses : Sight::asked;
}

std::shared_ptr<const std::byte> ArenaNeighbour::look(const RemoteKey& key,
                                                      std::size_t bytes) const noexcept {
  ArenaPlace place;
  std::memcpy(&place, key.bytes.data(), sizeof(place));
  return arenas_.keep(place, bytes);
}

}  // namespace parley::transport::shm
