#pragma once

#include <cstddef>

#include "transport/base/intrusive_list.h"

namespace parley::transport::shm {

struct SpareTag;

// A stretch of a segment, taken or spare. Belongs to its ArenaSpace.
struct ArenaBlock : base::ListHook<SpareTag> {
  std::size_t offset = 0;
  std::size_t bytes = 0;
  ArenaBlock* before = nullptr;  // the neighbours by address
  ArenaBlock* after = nullptr;
};

// Which parts of a segment are taken. It touches none of that memory: its books lie elsewhere, so that
// nobody who maps the segment can spoil them.
//
// Invariants:
//  1. The blocks cover the segment from its beginning to its end, without gaps.
//  2. A block is in `spare_` as long as it is not taken; no two neighbours are both spare.
//  3. Offsets and lengths are multiples of `alignment`.
// Thread-safety: none.
class ArenaSpace {
 public:
  // A cache line, and the widest vector register.
  static constexpr std::size_t alignment = 64;

  // What lies behind the last multiple of `alignment` is not used. Throws std::bad_alloc.
  explicit ArenaSpace(std::size_t bytes);
  ~ArenaSpace();
  ArenaSpace(const ArenaSpace&) = delete;
  ArenaSpace& operator=(const ArenaSpace&) = delete;

  // The smallest spare stretch that holds `bytes`, at least one. Null: there is none. Throws std::bad_alloc,
  // and then nothing has changed. Cost: a look at each spare block.
  ArenaBlock* take(std::size_t bytes);
  // Needs no memory. REQUIRES: `block` is taken.
  void give_back(ArenaBlock& block) noexcept;

  // Of all spare blocks together.
  [[nodiscard]] std::size_t spare_bytes() const noexcept { return spare_bytes_; }

 private:
  ArenaBlock* smallest_for(std::size_t bytes) noexcept;
  void absorb_next(ArenaBlock& block) noexcept;

  ArenaBlock* first_;
  base::IntrusiveList<ArenaBlock, SpareTag> spare_;
  std::size_t spare_bytes_;
};

}  // namespace parley::transport::shm
