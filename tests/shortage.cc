#include "tests/shortage.h"

#include <cstdlib>
#include <new>
#include <utility>

namespace {
constinit thread_local parley::testing::Shortage shortage;

bool is_refused() noexcept {
  if (shortage.refusals == 0) return false;
  if (shortage.after > 0) {
    --shortage.after;
    return false;
  }
  --shortage.refusals;
  return true;
}
}  // namespace

// Not inlined, or GCC takes malloc beside delete for a mismatch. Both are there, for AddressSanitizer's own
// that does not throw would not come by ours.
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return is_refused() ? nullptr : std::malloc(bytes == 0 ? 1 : bytes);
}
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  void* const memory = operator new(bytes, std::nothrow);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace parley::testing {

void Shortage::begin(const Shortage& of_thread) noexcept {
  shortage = of_thread;
}

Shortage Shortage::end() noexcept {
  return std::exchange(shortage, {});
}

}  // namespace parley::testing
