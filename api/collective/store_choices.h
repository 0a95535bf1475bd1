#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "transport/base/store_choice.h"

namespace parley::collective {

// How a rank stores what it shows: one choice for each rank that something is shown to alone, and one for
// all else. Of ranks that share cores some read on the core that has written, others far from it: of one
// choice for all of them no timings in a row would ever agree. They take turns in the same stages, so that
// one may meet lines which another one has stored past the caches, and take them for slow until it tries
// again. Thread-safety: none; the engine's lock.
class StoreChoices {
 public:
  // Of a group with so many ranks. Throws std::bad_alloc.
  explicit StoreChoices(std::size_t ranks) : choices_(ranks > 2 ? ranks + 1 : 1) {}

  // `peer`: a rank, or schedule::everyone. Of two ranks both are the same.
  [[nodiscard]] base::StoreChoice& of(std::uint32_t peer) noexcept {
    return choices_[std::min<std::size_t>(peer, choices_.size() - 1)];
  }

 private:
  std::vector<base::StoreChoice> choices_;  // by rank; the last one: of all else
};

}  // namespace parley::collective
