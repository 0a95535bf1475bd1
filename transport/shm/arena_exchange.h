#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "transport/base/memory_ref.h"
#include "transport/base/status.h"
#include "transport/base/unique_fd.h"
#include "transport/shm/arena.h"
#include "transport/shm/handover_message.h"
#include "transport/shm/segment.h"

namespace parley::transport::shm {

// What the two processes of a link have mapped of each other's arenas, to read it and no more. A segment is
// shown when something in it is first sent, and stays mapped as long as the link is there, or somebody holds
// what keep() gave. Nothing waits for the answer: until it comes, messages go another way. Thread-safety:
// none; the engine's lock.
class ArenaExchange {
 public:
  // Both outlive this object; there may be no arena.
  ArenaExchange(const Arena* own, const base::UniqueFd& socket) noexcept : own_(own), socket_(socket) {}

  // Where `memory` lies in our arena, shown or not.
  [[nodiscard]] std::optional<ArenaPlace> find(base::ConstMemoryRef memory) const noexcept {
    return own_ != nullptr ? own_->find(memory) : std::nullopt;
  }
  [[nodiscard]] bool holds(base::ConstMemoryRef memory) const noexcept { return find(memory).has_value(); }
  // Where the peer finds `memory`. Nothing: it is not in the arena, or the peer has not mapped that segment;
  // it is then shown to the peer, unless it was before.
  std::optional<ArenaPlace> show(base::ConstMemoryRef memory) noexcept;
  // Whether the peer has said that it cannot map this. REQUIRES: holds(memory).
  [[nodiscard]] bool is_refused(base::ConstMemoryRef memory) const noexcept {
    return ours_[find(memory)->segment] == Shown::refused;
  }
  // The peer's memory, readable as long as this object is there. Null: not all of it is in a segment that the
  // peer has shown. Anything may stand in `place`.
  [[nodiscard]] const std::byte* look(ArenaPlace place, std::uint64_t bytes) const noexcept;
  // The same, readable as long as the result is held.
  [[nodiscard]] std::shared_ptr<const std::byte> keep(ArenaPlace place, std::uint64_t bytes) const noexcept;

  // For people, to be appended: "; it reads our arena". Empty: no segment was shown.
  [[nodiscard]] std::string describe() const;

  // What the peer says of an arena. `memory`: the descriptor that came with it; `is_lacking`: there was no
  // number free for it. protocol_violation: it is none of what we would say.
  base::Status take(const HandoverMessage& message, base::UniqueFd memory, bool is_lacking) noexcept;

 private:
  base::Status take_offer(const HandoverMessage& message, base::UniqueFd memory) noexcept;

  const Arena* own_;
  const base::UniqueFd& socket_;
  std::array<Shown, most_arena_segments> ours_{};
  std::vector<std::shared_ptr<const Segment>> theirs_;  // by number; null: not shown
};

}  // namespace parley::transport::shm
