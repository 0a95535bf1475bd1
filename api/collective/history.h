#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "api/collective/signature.h"
#include "transport/protocol/messenger.h"

namespace parley::collective {

// What one rank has called last in a group, for messages that come too late.
//
// A call has received all that its schedule expects when it ends. What comes for it besides, a stray, was
// sent by a rank that was in another call, which nobody may have noticed: two roots of a broadcast both only
// send, and a sum of no elements sends nothing. A stray is also what comes for a call that is under way, and
// belongs to another one.
//
// Thread-safety: none; the engine's lock.
class History {
 public:
  explicit History(std::uint32_t context) : context_(context) {}

  // A call begins; its number. `packed`: signature.packed(), for who knows it.
  std::int64_t begin(const Signature& signature, std::uint64_t packed) noexcept;
  std::int64_t begin(const Signature& signature) noexcept { return begin(signature, signature.packed()); }
  // One that has lasted long may have given its place to another one.
  void end(std::int64_t sequence) noexcept {
    if (is_recent(sequence)) entry_of(sequence).has_ended = true;
  }

  // Aborts the context if there is a stray. Throws std::bad_alloc.
  void look_for_strays(transport::Messenger& messenger) const {
    if (const transport::Unexpected* const stray = find_stray(messenger); stray != nullptr) [[unlikely]]
      abort_for(*stray, messenger);
  }

  static constexpr std::size_t kept = 128;  // calls

 private:
  // The numbers of calls fit beside a note in a tag, and begin again.
  static constexpr std::int64_t sequence_mask = (std::int64_t{1} << (63 - transport::note_bits)) - 1;
  struct Entry {  // what is compared of a call's signature, and what that does not tell of it
    std::uint64_t packed = 0;
    std::optional<std::uint64_t> count;
    int root = -1;
    bool has_ended = true;
  };
  [[nodiscard]] static std::size_t place_of(std::int64_t sequence) noexcept {
    return static_cast<std::size_t>(sequence) % kept;
  }
  [[nodiscard]] Entry& entry_of(std::int64_t sequence) noexcept { return recent_[place_of(sequence)]; }
  // Whether it was one of the last calls; else it is an older one, or one of those to come, which other ranks
  // have begun.
  [[nodiscard]] bool is_recent(std::int64_t sequence) const noexcept {
    return ((next_ - 1 - sequence) & sequence_mask) < static_cast<std::int64_t>(kept);
  }
  [[nodiscard]] const transport::Unexpected* find_stray(transport::Messenger& messenger) const noexcept;
  void abort_for(const transport::Unexpected& stray, transport::Messenger& messenger) const;

  const std::uint32_t context_;
  std::int64_t next_ = 0;
  std::array<Entry, kept> recent_;
};

}  // namespace parley::collective
