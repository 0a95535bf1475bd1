#pragma once

#include <cstdint>

namespace parley::testing {

// What this process has asked of the allocator and of the kernel so far, on all threads. Linking
// counted_calls.cc replaces operator new and the socket functions by ones that count and do the same.
struct CountedCalls {
  std::uint64_t allocations = 0;  // operator new
  std::uint64_t sends = 0;        // send, sendmsg, writev that moved bytes
  std::uint64_t receives = 0;     // recv, recvmsg, readv, process_vm_readv that moved bytes
  std::uint64_t doorbells = 0;    // eventfd_write

  [[nodiscard]] static CountedCalls now() noexcept;
  [[nodiscard]] CountedCalls since(const CountedCalls& before) const noexcept {
    return {allocations - before.allocations, sends - before.sends, receives - before.receives,
            doorbells - before.doorbells};
  }
};

}  // namespace parley::testing
