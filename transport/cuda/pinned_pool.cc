#include "transport/cuda/pinned_pool.h"

#include <algorithm>
#include <new>
#include <utility>

namespace parley::cuda {
namespace {

// More would make a call's cost grow with what is in flight; fewer would let slow streams hide the others'
// blocks.
constexpr std::size_t looks_per_take = 16;
// Of one stream: as far ahead of its oldest a look goes.
constexpr std::size_t most_at_a_look = 64;

}  // namespace

PinnedPool::~PinnedPool() {
  for (Kind& kind : kinds_)
    for (Flight& flight : kind.flights)
      while (flight.count != 0) {
        const PinnedBlock& block = pop(flight);
        (void)api_.synchronize_event(block.after);
        events_.give_back(block.after);
      }
  for (std::byte* memory : allocations_) (void)api_.free_pinned(memory);
}

void PinnedPool::push_free(Kind& kind, PinnedBlock& block) noexcept {
  block.next = std::exchange(kind.free, &block);
}

PinnedPool::Flight* PinnedPool::flight_of(Kind& kind, std::uint64_t stream) noexcept try {
  Flight* unused = nullptr;
  for (Flight& flight : kind.flights) {
    if (flight.count == 0)
      unused = &flight;
    else if (flight.stream == stream)
      return &flight;
  }
  if (unused == nullptr) unused = &kind.flights.emplace_back();
  unused->stream = stream;
  return unused;
} catch (const std::bad_alloc&) {
  return nullptr;
}

void PinnedPool::push(Flight& flight, PinnedBlock& block) noexcept {
  block.next = nullptr;
  (flight.count == 0 ? flight.oldest : flight.latest->next) = &block;
  flight.latest = &block;
  ++flight.count;
}

// REQUIRES: there is one.
PinnedBlock& PinnedPool::pop(Flight& flight) noexcept {
  PinnedBlock& block = *flight.oldest;
  flight.oldest = block.next;
  --flight.count;
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
  const Code code = note_end(*block, stream);
  return code == Code::out_of_memory ? Code::ok : code;
}

Code PinnedPool::note_end(PinnedBlock& block, Stream stream) noexcept {
  std::uint64_t id = 0;
  if (const Code code = api_.stream_id(stream, id); code != Code::ok) return code;
  Flight* const flight = flight_of(kind_of(block), id);
  if (flight == nullptr) return Code::out_of_memory;
  if (const Code code = events_.take(block.after); code != Code::ok) return code;
  const Code code = api_.record(block.after, stream);
  if (code == Code::ok)
    push(*flight, block);
  else
    events_.give_back(block.after);
  return code;
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
  std::size_t looks = looks_per_take;
  for (std::size_t left = kind.flights.size(); left > 0 && looks > 0; --left) {
    if (kind.next_flight >= kind.flights.size()) kind.next_flight = 0;
    Flight& flight = kind.flights[kind.next_flight];
    if (look_at(flight, kind, looks)) return;
    if (looks == 0) return;  // it is the first the next time
    ++kind.next_flight;
  }
}

// True: some of its blocks are free now. To ask takes the host longer than to tell a copy, so it is asked
// whether all have ended, then half of them, and so on.
bool PinnedPool::look_at(Flight& flight, Kind& kind, std::size_t& looks) noexcept {
  for (std::size_t part = std::min(flight.count, most_at_a_look); part > 0 && looks > 0; part /= 2) {
    const PinnedBlock* last = flight.oldest;
    for (std::size_t i = 1; i < part; ++i) last = last->next;
    --looks;
    // After a failure of the device nothing is in flight there any more, and every later call on it fails.
    if (api_.query(last->after) == Code::not_ready) continue;
    for (; part > 0; --part) {
      PinnedBlock& block = pop(flight);
      events_.give_back(block.after);
      push_free(kind, block);
    }
    return true;
  }
  return false;
}

}  // namespace parley::cuda
