#include "bench/collective_buffers.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <new>
#include <stdexcept>
#include <string>

#include "bench/sizes.h"

namespace parley::bench {
namespace {

constexpr std::align_val_t page{4096};

// Whole numbers from 1 to 97, without a power of two as their period, different for neighbouring ranks: exact
// in sums over as many ranks as one host can start.
float element(int rank, std::size_t index) noexcept {
  return static_cast<float>(1 + (index * 7 + static_cast<std::size_t>(rank) * 13) % 97);
}

bool gives_to_each(Op op) noexcept {
  return op == Op::scatter || op == Op::reduce_scatter || op == Op::all_to_all;
}

bool gets_of_each(Op op) noexcept {
  return op == Op::gather || op == Op::all_gather || op == Op::all_to_all;
}

// Whether a call brings this rank a result.
bool brings(Op op, int rank, int root) noexcept {
  if (op == Op::barrier) return false;
  if (op == Op::broadcast) return rank != root;
  if (op == Op::reduce || op == Op::gather) return rank == root;
  return true;
}

// What is got begins a page of its own.
std::size_t in_at(std::size_t out_count) noexcept {
  constexpr std::size_t page_bytes = static_cast<std::size_t>(page);
  // Never nothing: libraries want an address for a barrier's nothing too.
  const std::size_t bytes = std::max(out_count, std::size_t{1}) * sizeof(float);
  return (bytes + page_bytes - 1) / page_bytes * page_bytes;
}

std::size_t given(Op op, std::size_t count, int ranks) noexcept {
  return gives_to_each(op) ? count * static_cast<std::size_t>(ranks) : count;
}

std::size_t got(Op op, std::size_t count, int ranks) noexcept {
  return gets_of_each(op) ? count * static_cast<std::size_t>(ranks) : count;
}

}  // namespace

void CollectiveBuffers::Free::operator()(std::byte* memory) const noexcept {
  ::operator delete[](memory, page);
}

CollectiveBuffers::Memory CollectiveBuffers::allocate(std::size_t bytes) {
  auto* memory = static_cast<std::byte*>(::operator new[](bytes, page, std::nothrow));
  if (memory == nullptr) throw std::runtime_error("no memory for buffers of " + format_size(bytes));
  return Memory(memory);
}

std::size_t CollectiveBuffers::room_for(Op op, std::size_t bytes, int ranks) noexcept {
  const std::size_t count = bytes / sizeof(float);
  return in_at(given(op, count, ranks)) + std::max(got(op, count, ranks), std::size_t{1}) * sizeof(float);
}

CollectiveBuffers::CollectiveBuffers(Op op, std::size_t bytes, int rank, int ranks)
    : CollectiveBuffers(op, bytes, rank, ranks, nullptr) {}

CollectiveBuffers::CollectiveBuffers(Op op, std::size_t bytes, int rank, int ranks, std::byte* memory)
    : op_(op),
      rank_(rank),
      ranks_(ranks),
      count_(bytes / sizeof(float)),
      out_count_(given(op, count_, ranks)),
      in_count_(got(op, count_, ranks)),
      own_memory_(memory == nullptr ? allocate(room_for(op, bytes, ranks)) : nullptr) {
  std::byte* const base = memory == nullptr ? own_memory_.get() : memory;
  out_ = reinterpret_cast<float*>(base);
  in_ = reinterpret_cast<float*>(base + in_at(out_count_));
  for (std::size_t i = 0; i < out_count_; ++i) out_[i] = element(rank, i);
  spoil_in();
}

void CollectiveBuffers::move_to(RankDevice& device) {
  twins_ = std::make_unique<DeviceTwins>(device, std::as_bytes(out()), std::as_bytes(in()));
}

bool CollectiveBuffers::called(int root) noexcept {
  const bool brought = brings(op_, rank_, root);
  if (brought) result_ = Result{root, negated_};
  return brought;
}

void CollectiveBuffers::read_in() const noexcept {
  std::uint32_t sum = 0;  // of bits: an integer's, for those of floats wait for each other
  for (std::size_t i = 0; i < in_count_; ++i) sum += std::bit_cast<std::uint32_t>(in_[i]);
  [[maybe_unused]] volatile std::uint32_t is_wanted = sum;
}

void CollectiveBuffers::rewrite_out() {
  for (float& each : out()) each = -each;
  if (twins_ != nullptr) twins_->write_out(std::as_bytes(out()));
  negated_ = !negated_;
}

void CollectiveBuffers::spoil_in() {
  // Equal to nothing, not even to itself.
  std::fill_n(in_, in_count_, std::numeric_limits<float>::quiet_NaN());
  if (twins_ != nullptr) twins_->spoil_in();
  result_.reset();
}

float CollectiveBuffers::expected(const Result& result, std::size_t index) const noexcept {
  const std::size_t mine = static_cast<std::size_t>(rank_) * count_;
  const auto block = static_cast<int>(index / count_);
  float value = 0;
  switch (op_) {
    case Op::broadcast: value = element(result.root, index); break;
    case Op::scatter: value = element(result.root, mine + index); break;
    case Op::gather:
    case Op::all_gather: value = element(block, index % count_); break;
    case Op::all_to_all: value = element(block, mine + index % count_); break;
    default:
      // A sum over all ranks, of this rank's block where there are several.
      for (int rank = 0; rank < ranks_; ++rank) {
        value += element(rank, op_ == Op::reduce_scatter ? mine + index : index);
      }
  }
  return result.negated ? -value : value;
}

std::size_t CollectiveBuffers::count_wrong() {
  if (!result_) return 0;
  if (twins_ != nullptr) twins_->read_in(std::as_writable_bytes(in()));
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < in_count_; ++i) wrong += in_[i] == expected(*result_, i) ? 0 : 1;
  return wrong;
}

}  // namespace parley::bench
