#include "transport/inproc/self_mover.h"

#include <cstring>

namespace parley::transport {

std::optional<Exposure> SelfMover::expose(base::ConstMemoryRef memory) noexcept {
  Exposure exposure;
  std::memcpy(exposure.key.bytes.data(), &memory.data, sizeof(memory.data));
  return exposure;
}

base::Status SelfMover::pull(const RemoteKey& key, base::MemoryRef into, Completion&) noexcept {
  const std::byte* from = nullptr;
  std::memcpy(&from, key.bytes.data(), sizeof(from));
  std::memmove(into.data, from, into.bytes);  // a program may send a part of a buffer to another part of it
  return {};
}

}  // namespace parley::transport
