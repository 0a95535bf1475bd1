#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace parley::base {

// Recycles objects of one type: grows by slabs, never shrinks, so that a steady state allocates nothing.
// The pool destroys no live object; all must be given back before it dies. Thread-safety: none.
template <typename T, std::size_t SlabCount = 64>
class SlabPool {
 public:
  SlabPool() = default;
  SlabPool(const SlabPool&) = delete;
  SlabPool& operator=(const SlabPool&) = delete;

  // Throws std::bad_alloc when a new slab cannot be had, and what T's constructor throws.
  template <typename... Args>
  T* create(Args&&... args) {
    if (free_ == nullptr) grow();
    Slot* slot = free_;
    free_ = slot->next;
    ++live_;
    try {
      return ::new (static_cast<void*>(slot->storage)) T(std::forward<Args>(args)...);
    } catch (...) {
      give_back(slot);
      throw;
    }
  }
  void destroy(T* object) noexcept {
    object->~T();
    give_back(reinterpret_cast<Slot*>(object));
  }
  [[nodiscard]] std::size_t live() const noexcept { return live_; }

 private:
  union Slot {
    Slot* next;
    alignas(T) std::byte storage[sizeof(T)];
  };
  void give_back(Slot* slot) noexcept {
    slot->next = free_;
    free_ = slot;
    --live_;
  }
  [[gnu::noinline]] void grow() {
    slabs_.push_back(std::make_unique<Slot[]>(SlabCount));
    for (std::size_t i = SlabCount; i-- > 0;) {
      slabs_.back()[i].next = free_;
      free_ = &slabs_.back()[i];
    }
  }

  std::vector<std::unique_ptr<Slot[]>> slabs_;
  Slot* free_ = nullptr;
  std::size_t live_ = 0;
};

}  // namespace parley::base
