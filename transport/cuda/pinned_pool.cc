#include "transport/cuda/pinned_pool.h"

#include <algorithm>

namespace parley::cuda {
namespace {

// More would make a call's cost grow with what is in flight; fewer would let one slow stream hide the others'
// blocks.
constexpr std::size_t looks_per_take = 16;

}  // namespace

PinnedPool::~PinnedPool() {
  for (Kind* kind : {&small_, &large_}) {
    for (PinnedBlock* block : kind->in_flight) {
      (void)api_.synchronize_event(block->after);
      events_.give_back(block->after);
    }
  }
  for (std::byte* memory : allocations_) (void)api_.free_pinned(memory);
}

PinnedBlock* PinnedPool::take(std::size_t bytes) {
  const bool is_small = bytes <= small_bytes;
  Kind& kind = is_small ? small_ : large_;
  if (kind.free.empty()) look_at_flights(kind);
  if (kind.free.empty() && !grow(kind, is_small ? small_bytes : large_bytes)) return nullptr;
  PinnedBlock* block = kind.free.back();
  kind.free.pop_back();
  return block;
}

void PinnedPool::give_back(PinnedBlock* block) {
  kind_of(*block).free.push_back(block);
}

Code PinnedPool::give_back_after(PinnedBlock* block, Stream stream) {
  Code code = events_.take(block->after);
  if (code == Code::ok) {
    code = api_.record(block->after, stream);
    if (code == Code::ok) {
      kind_of(*block).in_flight.push_back(block);
      return Code::ok;
    }
    events_.give_back(block->after);
  }
  code = api_.synchronize(stream);
  if (code == Code::ok) give_back(block);
  return code;
}

bool PinnedPool::grow(Kind& kind, std::size_t block_bytes) {
  if (reserved_bytes() + large_bytes > bound_) return false;
  std::byte* memory = nullptr;
  if (api_.allocate_pinned(large_bytes, memory) != Code::ok) return false;
  allocations_.push_back(memory);
  // Backwards, so that the first block is handed out first.
  for (std::size_t offset = large_bytes; offset > 0; offset -= block_bytes) {
    PinnedBlock& block = blocks_.emplace_back();
    block.data = memory + offset - block_bytes;
    block.bytes = block_bytes;
    kind.free.push_back(&block);
  }
  return true;
}

void PinnedPool::look_at_flights(Kind& kind) {
  for (std::size_t looks = std::min(looks_per_take, kind.in_flight.size()); looks > 0; --looks) {
    PinnedBlock* block = kind.in_flight.front();
    kind.in_flight.pop_front();
    if (const Code code = api_.query(block->after); code == Code::not_ready) {
      kind.in_flight.push_back(block);
    } else {
      // After a failure of the device nothing is in flight there any more, and every later call on it fails.
      events_.give_back(block->after);
      kind.free.push_back(block);
    }
  }
}

}  // namespace parley::cuda
