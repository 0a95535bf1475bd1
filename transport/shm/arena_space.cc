#include "transport/shm/arena_space.h"

#include <algorithm>

namespace parley::transport::shm {
namespace {

constexpr std::size_t round_down(std::size_t bytes) noexcept {
  return bytes / ArenaSpace::alignment * ArenaSpace::alignment;
}

}  // namespace

ArenaSpace::ArenaSpace(std::size_t bytes) : first_(new ArenaBlock), spare_bytes_(round_down(bytes)) {
  first_->bytes = spare_bytes_;
  spare_.push_back(*first_);
}

ArenaSpace::~ArenaSpace() {
  for (ArenaBlock* block = first_; block != nullptr;) {
    ArenaBlock* after = block->after;
    delete block;
    block = after;
  }
}

ArenaBlock* ArenaSpace::smallest_for(std::size_t bytes) noexcept {
  ArenaBlock* best = nullptr;
  for (ArenaBlock* block = spare_.front(); block != nullptr; block = spare_.next(*block))
    if (block->bytes >= bytes && (best == nullptr || block->bytes < best->bytes)) best = block;
  return best;
}

ArenaBlock* ArenaSpace::take(std::size_t bytes) {
  if (bytes > spare_bytes_) return nullptr;
  const std::size_t wanted = round_down(std::max<std::size_t>(bytes, 1) + alignment - 1);
  ArenaBlock* block = smallest_for(wanted);
  if (block == nullptr) return nullptr;
  if (block->bytes > wanted) {
    auto* rest = new ArenaBlock;
    rest->offset = block->offset + wanted;
    rest->bytes = block->bytes - wanted;
    rest->before = block;
    rest->after = block->after;
    if (rest->after != nullptr) rest->after->before = rest;
    block->after = rest;
    block->bytes = wanted;
    spare_.push_back(*rest);
  }
  spare_.remove(*block);
  spare_bytes_ -= wanted;
  return block;
}

void ArenaSpace::give_back(ArenaBlock& block) noexcept {
  spare_bytes_ += block.bytes;
  spare_.push_back(block);
  if (block.after != nullptr && block.after->is_linked()) absorb_next(block);
  if (block.before != nullptr && block.before->is_linked()) absorb_next(*block.before);
}

void ArenaSpace::absorb_next(ArenaBlock& block) noexcept {
  ArenaBlock* gone = block.after;
  block.bytes += gone->bytes;
  block.after = gone->after;
  if (block.after != nullptr) block.after->before = &block;
  spare_.remove(*gone);
  delete gone;
}

}  // namespace parley::transport::shm
