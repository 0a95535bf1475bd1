#pragma once

#include <sys/mman.h>

#include <cerrno>
#include <new>
#include <system_error>
#include <type_traits>

namespace parley::testing {

// One T that the test and the ranks it forks all see; lock-free atomics in it work across processes.
// Zero-initialised and then default-constructed once, before the forks.
template <typename T>
class SharedPage {
 public:
  SharedPage() {
    void* memory = mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::system_error(errno, std::system_category(), "mmap");
    value_ = new (memory) T();
  }
  ~SharedPage() {
    static_assert(std::is_trivially_destructible_v<T>);
    munmap(value_, sizeof(T));
  }
  SharedPage(const SharedPage&) = delete;
  SharedPage& operator=(const SharedPage&) = delete;

  T& operator*() const noexcept { return *value_; }
  T* operator->() const noexcept { return value_; }

 private:
  T* value_;
};

}  // namespace parley::testing
