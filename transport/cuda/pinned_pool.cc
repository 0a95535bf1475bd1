#include "transport/cuda/pinned_pool.h"

#include <algorithm>
#include <new>
#include <utility>

namespace parley::cuda {
namespace {

// More would make a call's cost grow with what is in flight; fewer would let one slow stream hide the others'
// blocks.
constexpr std::size_t looks_per_take = 16;

}  // namespace

PinnedPool::~PinnedPool() {
  for (Kind& kind : kinds_)
    while (PinnedBlock* block = pop_in_flight(kind)) {
      (void)api_.synchronize_event(block->after);
      events_.give_back(block->after);
    }
  for (std::byte* memory : allocations_) (void)api_.free_pinned(memory);
}

void PinnedPool::push_free(Kind& kind, PinnedBlock& block) noexcept {
  block.next = std::exchange(kind.free, &block);
}

void PinnedPool::push_in_flight(Kind& kind, PinnedBlock& block) noexcept {
  block.next = nullptr;
  (kind.oldest == nullptr ? kind.oldest : kind.latest->next) = &block;
  kind.latest = &block;
  ++kind.in_flight;
}

// Null: there is none.
PinnedBlock* PinnedPool::pop_in_flight(Kind& kind) noexcept {
  PinnedBlock* const block = kind.oldest;
  if (block == nullptr) return nullptr;
  kind.oldest = block->next;
  --kind.in_flight;
  return block;
}

PinnedBlock* PinnedPool::take(std::size_t bytes, Need need) noexcept {
  const std::size_t bound = need == Need::can_wait ? bound_ : times_if_pressing * bound_;
  const std::size_t best = kind_for(bytes);
  for (std::size_t i = best; i < kinds_.size(); ++i) {
    Kind& kind = kinds_[i];
    if (kind.free == nullptr) look_at_flights(kind);
    if (kind.free == nullptr && (i != best || !grow(kind, sizes[i], bound))) continue;
    PinnedBlock* const block = kind.free;
    kind.free = block->next;
    return block;
  }
  return nullptr;
}

void PinnedPool::give_back(PinnedBlock* block) noexcept {
  push_free(kind_of(*block), *block);
}

Code PinnedPool::give_back_after(PinnedBlock* block, Stream stream) noexcept {
  Code code = events_.take(block->after);
  if (code == Code::ok) {
    code = api_.record(block->after, stream);
    if (code == Code::ok)
      push_in_flight(kind_of(*block), *block);
    else
      events_.give_back(block->after);
  }
  return code == Code::out_of_memory ? Code::ok : code;
}

bool PinnedPool::grow(Kind& kind, std::size_t block_bytes, std::size_t bound) noexcept {
  if (reserved_bytes() + large_bytes > bound) return false;
  std::byte* memory = nullptr;
  if (api_.allocate_pinned(large_bytes, memory) != Code::ok) return false;
  const std::size_t before = blocks_.size();
  try {
    while (blocks_.size() - before < large_bytes / block_bytes) blocks_.emplace_back();
    allocations_.push_back(memory);
  } catch (const std::bad_alloc&) {
    while (blocks_.size() > before) blocks_.pop_back();
    (void)api_.free_pinned(memory);
    return false;
  }
  // Backwards, so that the first block is handed out first.
  std::size_t offset = large_bytes;
  for (std::size_t i = before; i < blocks_.size(); ++i) {
    PinnedBlock& block = blocks_[i];
    offset -= block_bytes;
    block.data = memory + offset;
    block.bytes = block_bytes;
    push_free(kind, block);
  }
  kind.count += blocks_.size() - before;
  return true;
}

void PinnedPool::look_at_flights(Kind& kind) noexcept {
  for (std::size_t looks = std::min(looks_per_take, kind.in_flight); looks > 0; --looks) {
    PinnedBlock& block = *pop_in_flight(kind);
    if (api_.query(block.after) == Code::not_ready) {
      push_in_flight(kind, block);
    } else {
      // After a failure of the device nothing is in flight there any more, and every later call on it fails.
      events_.give_back(block.after);
      push_free(kind, block);
    }
  }
}

}  // namespace parley::cuda
