#include "tests/budget/counted_calls.h"

#include <dlfcn.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace parley::testing {
namespace {

// relaxed: only sums; the ranks that read them have joined or ordered what they counted.
struct Counters {
  std::atomic<std::uint64_t> allocations{0}, sends{0}, receives{0}, doorbells{0};
};
Counters counters;

void* allocate(std::size_t bytes) noexcept {
  counters.allocations.fetch_add(1, std::memory_order_relaxed);
  return std::malloc(bytes == 0 ? 1 : bytes);
}

void* allocate_aligned(std::size_t bytes, std::size_t alignment) noexcept {
  counters.allocations.fetch_add(1, std::memory_order_relaxed);
  return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

void* or_throw(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

// The function of this name in the next library.
template <typename Function>
Function* next(const char* name) noexcept {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

ssize_t count(std::atomic<std::uint64_t>& counter, ssize_t moved) noexcept {
  if (moved > 0) counter.fetch_add(1, std::memory_order_relaxed);
  return moved;
}

}  // namespace

CountedCalls CountedCalls::now() noexcept {
  return {counters.allocations.load(std::memory_order_relaxed),
          counters.sends.load(std::memory_order_relaxed), counters.receives.load(std::memory_order_relaxed),
          counters.doorbells.load(std::memory_order_relaxed)};
}

}  // namespace parley::testing

using parley::testing::allocate;
using parley::testing::allocate_aligned;
using parley::testing::count;
using parley::testing::counters;
using parley::testing::next;
using parley::testing::or_throw;

void* operator new(std::size_t bytes) {
  return or_throw(allocate(bytes));
}
void* operator new[](std::size_t bytes) {
  return or_throw(allocate(bytes));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return allocate(bytes);
}
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
  return allocate(bytes);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return or_throw(allocate_aligned(bytes, static_cast<std::size_t>(alignment)));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return or_throw(allocate_aligned(bytes, static_cast<std::size_t>(alignment)));
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete[](void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}

extern "C" {

ssize_t send(int fd, const void* data, size_t bytes, int flags) {
  static auto* const real = next<decltype(::send)>("send");
  return count(counters.sends, real(fd, data, bytes, flags));
}
ssize_t sendmsg(int fd, const msghdr* message, int flags) {
  static auto* const real = next<decltype(::sendmsg)>("sendmsg");
  return count(counters.sends, real(fd, message, flags));
}
ssize_t writev(int fd, const iovec* parts, int number) {
  static auto* const real = next<decltype(::writev)>("writev");
  return count(counters.sends, real(fd, parts, number));
}
ssize_t recv(int fd, void* data, size_t bytes, int flags) {
  static auto* const real = next<decltype(::recv)>("recv");
  return count(counters.receives, real(fd, data, bytes, flags));
}
ssize_t recvmsg(int fd, msghdr* message, int flags) {
  static auto* const real = next<decltype(::recvmsg)>("recvmsg");
  return count(counters.receives, real(fd, message, flags));
}
ssize_t readv(int fd, const iovec* parts, int number) {
  static auto* const real = next<decltype(::readv)>("readv");
  return count(counters.receives, real(fd, parts, number));
}
ssize_t process_vm_readv(pid_t process, const iovec* local, unsigned long local_count, const iovec* remote,
                         unsigned long remote_count, unsigned long flags) {
  static auto* const real = next<decltype(::process_vm_readv)>("process_vm_readv");
  return count(counters.receives, real(process, local, local_count, remote, remote_count, flags));
}
// Calls no write() that could be replaced.
int eventfd_write(int fd, eventfd_t value) {
  static auto* const real = next<decltype(::eventfd_write)>("eventfd_write");
  const int result = real(fd, value);
  count(counters.doorbells, result == 0 ? sizeof value : 0);
  return result;
}

}  // extern "C"
