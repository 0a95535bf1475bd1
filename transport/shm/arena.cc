#include "transport/shm/arena.h"

#include <algorithm>
#include <utility>

#include "transport/base/log.h"

namespace parley::transport::shm {
namespace {
// Memory that is taken in advance may be what a control group has no more of, and then the kernel kills.
constexpr std::size_t most_growth = 256 << 20;
}  // namespace

using base::Code;

std::shared_ptr<Arena> Arena::create(ArenaPlan plan) {
  return std::shared_ptr<Arena>(new Arena(plan));
}

Arena::~Arena() = default;

base::Result<std::shared_ptr<std::byte>> Arena::allocate(std::size_t bytes) {
  // Another thread of the parent's may have held the locks when it forked.
  if (fork_guard_.in_child()) return base::Failure{Code::closed, "the arena belongs to the parent process"};
  if (auto memory = take(bytes)) return memory;
  const std::lock_guard growing(growing_);
  // Another thread may have grown it meanwhile.
  if (auto memory = take(bytes)) return memory;
  // relaxed: only whoever holds `growing_` changes it.
  const std::uint32_t number = count_.load(std::memory_order_relaxed);
  if (number == most_arena_segments)
    return base::Failure{Code::exhausted, base::concat("the arena has ", number, " segments already")};
  auto made = make_segment(std::max<std::size_t>(bytes, 1));
  if (!made) return made.failure();
  auto part = std::make_unique<Part>(std::move(made).value());
  auto memory = take_from(*part, bytes);
  total_bytes_ += part->memory.size();
  parts_[number] = std::move(part);
  // release: whoever sees the new count sees the part.
  count_.store(number + 1, std::memory_order_release);
  return memory;
}

// As large as the plan wants it; where memory is short, as large as it must be.
base::Result<Segment> Arena::make_segment(std::size_t bytes) const {
  const std::size_t growth = std::min(most_growth, total_bytes_ / plan_.growth_divisor);
  const std::size_t planned = std::max(plan_.least_bytes, growth);
  if (bytes < planned) {
    auto made = Segment::create(planned);
    if (made) return made;
  }
  return Segment::create(bytes);
}

std::shared_ptr<std::byte> Arena::take(std::size_t bytes) {
  // acquire: with the count come the parts that it counts.
  const std::uint32_t count = count_.load(std::memory_order_acquire);
  for (std::uint32_t number = 0; number < count; ++number)
    if (auto memory = take_from(*parts_[number], bytes)) return memory;
  return nullptr;
}

std::shared_ptr<std::byte> Arena::take_from(Part& part, std::size_t bytes) {
  ArenaBlock* block = nullptr;
  {
    const std::lock_guard lock(mutex_);
    block = part.space.take(bytes);
  }
  if (block == nullptr) return nullptr;
  // If there is no memory for its count, the pointer calls this function all the same.
  return {part.memory.data() + block->offset,
          [self = shared_from_this(), &part, block](std::byte*) { self->give_back(part, *block); }};
}

void Arena::give_back(Part& part, ArenaBlock& block) noexcept {
  if (fork_guard_.in_child()) return;  // see allocate()
  const std::lock_guard lock(mutex_);
  part.space.give_back(block);
}

std::optional<ArenaPlace> Arena::find(base::ConstMemoryRef memory) const noexcept {
  // acquire: as in take().
  const std::uint32_t count = count_.load(std::memory_order_acquire);
  const auto address = reinterpret_cast<std::uintptr_t>(memory.data);
  for (std::uint32_t number = 0; number < count; ++number) {
    const Segment& segment = parts_[number]->memory;
    const std::uintptr_t offset = address - reinterpret_cast<std::uintptr_t>(segment.data());
    // What lies before the segment has become very large.
    if (offset < segment.size() && memory.bytes <= segment.size() - offset) return ArenaPlace{number, offset};
  }
  return std::nullopt;
}

}  // namespace parley::transport::shm
