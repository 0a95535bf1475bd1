#pragma once

#include <parley/store.h>

#include <memory>
#include <mutex>
#include <utility>

namespace parley::wireup {

// The world's hold on its store. Whoever uses the store takes a copy of the pointer, so that it lives until
// its call returns although the world is left meanwhile. Thread-safety: safe, but for leak_in_child().
class StoreHandle {
 public:
  void set(std::shared_ptr<Store> store) {
    const std::lock_guard lock(mutex_);
    store_ = std::move(store);
  }
  // Null when there is none, or none any more.
  [[nodiscard]] std::shared_ptr<Store> get() const {
    const std::lock_guard lock(mutex_);
    return store_;
  }
  // The store ends here, outside the lock, unless somebody uses it.
  void reset() {
    std::shared_ptr<Store> last;
    {
      const std::lock_guard lock(mutex_);
      last.swap(store_);
    }
  }
  // In a forked child the store is the parent's, and the mutex may be locked for ever.
  void leak_in_child() { [[maybe_unused]] auto* leaked = new std::shared_ptr<Store>(std::move(store_)); }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<Store> store_;
};

}  // namespace parley::wireup
