#include "bench/buffers.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>

#include "bench/sizes.h"

namespace parley::bench {
namespace {

constexpr std::align_val_t page{4096};
constexpr std::uint8_t spoiled = 0xff;

// Applied to every byte when a message is written anew; makes no byte of a pattern the spoiled one.
constexpr std::uint64_t rewriting = 0x0101010101010101;
constexpr std::size_t word_bytes = sizeof(rewriting);

// Never zero, never `spoiled`, different for two ranks of a pair, and without a power of two as its period.
std::uint8_t pattern(int rank, std::size_t index) noexcept {
  return static_cast<std::uint8_t>(1 + (index + static_cast<std::size_t>(rank) * 13) % 251);
}

void fill(std::uint8_t* memory, std::size_t bytes, int rank) noexcept {
  for (std::size_t i = 0; i < bytes; ++i) memory[i] = pattern(rank, i);
}

}  // namespace

void Buffers::Free::operator()(std::uint8_t* memory) const noexcept {
  ::operator delete[](memory, page);
}

Buffers::Memory Buffers::allocate(std::size_t bytes) {
  auto* memory = static_cast<std::uint8_t*>(::operator new[](bytes, page, std::nothrow));
  if (memory == nullptr) throw std::runtime_error("no memory for two buffers of " + format_size(bytes));
  return Memory(memory);
}

std::size_t Buffers::room_for(std::size_t bytes) noexcept {
  return (std::max(bytes, least_capacity) + word_bytes - 1) / word_bytes * word_bytes;
}

Buffers::Buffers(std::size_t bytes, int rank, int partner) : Buffers(bytes, rank, partner, nullptr) {}

Buffers::Buffers(std::size_t bytes, int rank, int partner, std::uint8_t* out)
    : bytes_(bytes),
      capacity_(room_for(bytes)),
      partner_(partner),
      own_out_(out == nullptr ? allocate(capacity_) : nullptr),
      out_(out == nullptr ? own_out_.get() : out),
      in_(allocate(capacity_)) {
  fill(out_, capacity_, rank);
  std::memset(in_.get(), spoiled, capacity_);
}

void Buffers::move_to(RankDevice& device) {
  twins_ = std::make_unique<DeviceTwins>(device, std::as_bytes(out()), std::as_bytes(in()));
}

void Buffers::rewrite_out() {
  for (std::size_t i = 0; i < bytes_; i += word_bytes) {
    std::uint64_t word = 0;
    std::memcpy(&word, out_ + i, word_bytes);
    word ^= rewriting;
    std::memcpy(out_ + i, &word, word_bytes);
  }
  if (twins_ != nullptr) twins_->write_out(std::as_bytes(out()));
}

void Buffers::spoil_in() {
  std::memset(in_.get(), spoiled, bytes_);
  if (twins_ != nullptr) twins_->spoil_in();
}

void Buffers::check_in() {
  if (twins_ != nullptr) twins_->read_in(std::as_writable_bytes(in()));
  const int flipped = partner_rewrote_ ? static_cast<std::uint8_t>(rewriting) : 0;
  for (std::size_t i = 0; i < bytes_; ++i) {
    if (in_[i] == (pattern(partner_, i) ^ flipped)) continue;
    throw std::runtime_error("byte " + std::to_string(i) + " of " + std::to_string(bytes_) +
                             " received from rank " + std::to_string(partner_) + " is wrong");
  }
}

}  // namespace parley::bench
