#pragma once

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

#include "transport/base/unique_fd.h"
#include "transport/socket/reactor.h"

namespace parley::socket {

// Memory for the one wait that a sleep starts: a sleep allocates nothing. From the heap if it is taken.
class WaitMemory {
 public:
  void* take(std::size_t bytes) {
    if (taken_ || bytes > sizeof(memory_)) return ::operator new(bytes);
    taken_ = true;
    return memory_;
  }
  void give(void* memory) noexcept {
    if (memory == memory_)
      taken_ = false;
    else
      ::operator delete(memory);
  }

 private:
  alignas(std::max_align_t) std::byte memory_[256];
  bool taken_ = false;
};

template <typename T>
struct WaitAllocator {
  using value_type = T;
  explicit WaitAllocator(WaitMemory& from) noexcept : memory(&from) {}
  template <typename U>
  WaitAllocator(const WaitAllocator<U>& other) noexcept : memory(other.memory) {}  // NOLINT: rebinds
  T* allocate(std::size_t count) { return static_cast<T*>(memory->take(count * sizeof(T))); }
  void deallocate(T* first, std::size_t) noexcept { memory->give(first); }
  template <typename U>
  bool operator==(const WaitAllocator<U>& other) const noexcept {
    return memory == other.memory;
  }
  WaitMemory* memory;
};

struct Reactor::Impl {
  WaitMemory wait_memory;  // outlives `context`

  // Two levels of waiting: `wait_set` is an epoll set of the doorbell and the watched descriptors, and Asio
  // waits for that set as for any other descriptor.
  asio::io_context context;
  base::UniqueFd wait_set;
  base::UniqueFd doorbell;  // eventfd
  asio::posix::stream_descriptor waiter{context};
  bool waiting = false;  // an async_wait on `waiter` is under way
  // See Reactor::work_done(). Relaxed: a hint, which orders nothing else.
  std::atomic<std::uint64_t> work_done{0};
  void count_work(std::int64_t handlers) noexcept {
    work_done.fetch_add(static_cast<std::uint64_t>(handlers), std::memory_order_relaxed);
  }

  // Sleeper: sleeping = true; fence; look for work. Ringer: work; fence; look at sleeping. Both accesses are
  // seq_cst so that at least one of the two sees the other. Who rings takes it back: it has been rung for.
  std::atomic<bool> sleeping{false};
};

}  // namespace parley::socket
