#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>

#include "transport/cuda/api.h"

// What movers of device memory tell each other: notes, which are sent ahead, and keys. Both processes are of
// one host, so the bytes are as they lie in memory.
namespace parley::transport::cuda_ipc {

enum class NoteKind : std::uint32_t {
  memory = 1,  // an allocation has a number from now on
  forget = 2,  // ... and none any more
};

struct MemoryNote {
  NoteKind kind = NoteKind::memory;
  std::uint32_t number = 0;
  std::uint64_t bytes = 0;
  cuda::DeviceId device{};
  cuda::MemoryHandle handle{};
};
struct ForgetNote {
  NoteKind kind = NoteKind::forget;
  std::uint32_t number = 0;
};

// Any note, as bytes.
struct Note {
  template <typename What>
  explicit Note(const What& what) noexcept : bytes(sizeof(what)) {
    static_assert(sizeof(what) <= most_bytes && std::is_trivially_copyable_v<What>);
    std::memcpy(memory.data(), &what, sizeof(what));
  }
  [[nodiscard]] std::span<const std::byte> view() const noexcept { return {memory.data(), bytes}; }

  static constexpr std::size_t most_bytes = sizeof(MemoryNote);
  std::array<std::byte, most_bytes> memory;
  std::size_t bytes;
};

// Nothing: the note is of another kind, or malformed.
template <typename What>
std::optional<What> read_note(std::span<const std::byte> bytes) noexcept {
  What what;
  const NoteKind kind = what.kind;
  if (bytes.size() != sizeof(what)) return std::nullopt;
  std::memcpy(&what, bytes.data(), sizeof(what));
  return what.kind == kind ? std::optional(what) : std::nullopt;
}

// What a RemoteKey holds, of a send's memory as of a receive's. `slot` and `ticket` say which offer it is;
// the memory is at an offset of one that was told, or, within a process, at an address of the device
// `memory`.
struct Key {
  // Nothing can be read: the sender wants to push.
  static constexpr std::uint32_t no_slot = ~std::uint32_t{0};
  std::uint32_t slot = 0;
  std::uint32_t memory = 0;
  std::uint64_t offset = 0;
  std::uint32_t ticket_word = 0;
  std::uint32_t ticket_generation = 0;
};

}  // namespace parley::transport::cuda_ipc
