#include "bench/buffers.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>

#include "bench/pattern.h"
#include "bench/sizes.h"

namespace parley::bench {
namespace {

constexpr std::align_val_t page{4096};
constexpr std::size_t word_bytes = sizeof(rewriting);

constexpr std::size_t whole_words(std::size_t bytes) noexcept {
  return (bytes + word_bytes - 1) / word_bytes * word_bytes;
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
  return whole_words(std::max(bytes + DistinctMessages::most_messages, least_capacity));
}

Buffers::Buffers(std::size_t bytes, int rank, int partner) : Buffers(bytes, rank, partner, nullptr) {}

Buffers::Buffers(std::size_t bytes, int rank, int partner, std::uint8_t* out)
    : bytes_(bytes),
      capacity_(room_for(bytes)),
      partner_(partner),
      own_out_(out == nullptr ? allocate(capacity_) : nullptr),
      out_(out == nullptr ? own_out_.get() : out),
      in_(allocate(capacity_)) {
  write_pattern({out_, capacity_}, rank);
  std::memset(in_.get(), spoiled_byte, capacity_);
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
  std::memset(in_.get(), spoiled_byte, bytes_);
  if (twins_ != nullptr) twins_->spoil_in();
}

void Buffers::check_in() {
  if (twins_ != nullptr) twins_->read_in(std::as_writable_bytes(in()));
  const auto wrong = first_wrong(in(), partner_, 0, partner_rewrote_);
  if (!wrong) return;
  throw std::runtime_error("byte " + std::to_string(*wrong) + " of " + std::to_string(bytes_) +
                           " received from rank " + std::to_string(partner_) + " is wrong");
}

DistinctMessages& Buffers::distinct() {
  if (!distinct_) distinct_.emplace(out_, bytes_, partner_);
  return *distinct_;
}

void Buffers::check_distinct() {
  distinct_->check(partner_rewrote_ ? whole_words(bytes_) : 0);
}

}  // namespace parley::bench
