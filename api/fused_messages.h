#pragma once

#include <parley/batch.h>
#include <parley/work.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "api/failure.h"
#include "api/group_state.h"

namespace parley::detail {

// The messages without content beside a batch that NCCL does: one for each of its sends and receives. Where
// NCCL waits for a peer without a word, they tell which one. A send's ends once it has met its receive.
// Thread-safety: none; all but post() with the engine's lock.
class FusedMessages {
 public:
  // Borrows all but the tags. REQUIRES: `works` are as many as `ops`, and empty.
  FusedMessages(const std::shared_ptr<GroupState>& group, std::span<const P2POp> ops, std::span<Work> works,
                std::vector<std::int64_t> tags)
      : group_(group), ops_(ops), works_(works), tags_(std::move(tags)) {}

  // Posts all, and makes the Works their handles. What fails at once leaves its error in its Work. Until
  // bind() they can be taken back. Throws std::bad_alloc. REQUIRES: not the engine's lock.
  void post();
  // NCCL moves what they stand for: from now on they cannot be cancelled.
  void bind() const noexcept;

  // Whether the deadline of one has passed. None changes any more after that.
  [[nodiscard]] bool has_timed_out() const noexcept;
  // Places of those that have not met the peer's.
  [[nodiscard]] std::vector<std::size_t> unmatched() const;
  // "rank 2", "ranks 2, 5": the processes of these places. "": none.
  [[nodiscard]] std::string peers_of(const std::vector<std::size_t>& places) const;
  // What is told of one of them in an error.
  [[nodiscard]] FailedOperation describe(std::size_t place) const;

 private:
  class Item;
  [[nodiscard]] Item at(std::size_t place) const;

  const std::shared_ptr<GroupState>& group_;
  const std::span<const P2POp> ops_;
  const std::span<Work> works_;
  const std::vector<std::int64_t> tags_;
};

}  // namespace parley::detail
