#pragma once

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <new>
#include <vector>

#include "transport/cuda/api.h"

namespace parley::transport::cuda_ipc {

// Things that a process can have from CUDA only once, while several of its links use them: the first use
// makes one, the last use ends it. Never destroyed, for links may end while the process does. Thread-safety:
// any thread.
template <typename Thing>
class CountedUses {
 public:
  // The one that `is_it`, or what `make` makes of `thing`, which is filled in: make(thing) says how that
  // went.
  template <typename IsIt, typename Make>
  cuda::Code acquire(Thing& thing, IsIt is_it, Make make) noexcept try {
    const std::lock_guard lock(mutex_);
    if (const auto found = find(is_it); found != entries_.end()) {
      ++found->users;
      thing = found->thing;
      return cuda::Code::ok;
    }
    entries_.reserve(entries_.size() + 1);
    const cuda::Code code = make(thing);
    if (code == cuda::Code::ok) entries_.push_back({thing, 1});
    return code;
  } catch (const std::bad_alloc&) {
    return cuda::Code::out_of_memory;
  }

  // REQUIRES: there is one.
  template <typename IsIt, typename End>
  void release(IsIt is_it, End end) noexcept {
    const std::lock_guard lock(mutex_);
    const auto found = find(is_it);
    if (--found->users != 0) return;
    end(found->thing);
    entries_.erase(found);
  }

 private:
  struct Entry {
    Thing thing;
    std::size_t users;
  };
  template <typename IsIt>
  typename std::vector<Entry>::iterator find(IsIt is_it) noexcept {
    return std::find_if(entries_.begin(), entries_.end(),
                        [&](const Entry& entry) { return is_it(entry.thing); });
  }

  std::mutex mutex_;
  std::vector<Entry> entries_;
};

}  // namespace parley::transport::cuda_ipc
