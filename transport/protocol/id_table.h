#pragma once

#include <cstdint>
#include <vector>

namespace parley::transport {

// Numbers for objects that the other side refers to. A number is a slot and a generation, so that a late or
// forged one finds nothing instead of a stranger. 0 is never given. Thread-safety: none.
template <typename T>
class IdTable {
 public:
  static constexpr std::uint32_t max_live = 1U << 20;

  // 0 when max_live objects have a number, or memory is short.
  std::uint32_t add(T& object) noexcept {
    if (free_.empty() && !grow()) return 0;
    const std::uint32_t slot = free_.back();
    free_.pop_back();
    slots_[slot].object = &object;
    return id_of(slot);
  }
  void remove(std::uint32_t id) noexcept {
    Slot& slot = slots_[id & slot_mask];
    slot.object = nullptr;
    slot.generation = (slot.generation + 1) & generation_mask;
    free_.push_back(id & slot_mask);  // within capacity, see grow()
  }
  [[nodiscard]] T* find(std::uint32_t id) const noexcept {
    const std::uint32_t slot = id & slot_mask;
    return slot < slots_.size() && id_of(slot) == id ? slots_[slot].object : nullptr;
  }

 private:
  static constexpr std::uint32_t slot_bits = 20;
  static constexpr std::uint32_t slot_mask = max_live - 1;
  static constexpr std::uint32_t generation_mask = (1U << (32 - slot_bits)) - 1;

  struct Slot {
    T* object = nullptr;
    std::uint32_t generation = 1;
  };
  [[nodiscard]] std::uint32_t id_of(std::uint32_t slot) const noexcept {
    return (slots_[slot].generation << slot_bits) | slot;
  }
  bool grow() noexcept {
    const auto old = static_cast<std::uint32_t>(slots_.size());
    if (old == max_live) return false;
    const std::uint32_t size = old == 0 ? 64 : old * 2;
    try {
      free_.reserve(size);
      slots_.resize(size);
    } catch (...) {
      return false;
    }
    for (std::uint32_t slot = size; slot-- > old;)
      if (slot != 0) free_.push_back(slot);  // slot 0 stays unused, so that no number is 0
    return !free_.empty();
  }

  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;
};

}  // namespace parley::transport
