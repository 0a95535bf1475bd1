#pragma once

#include <parley/tensor.h>

#include <cstddef>
#include <functional>
#include <memory>

#include "tests/multiprocess/traffic/plan.h"

namespace parley::testing {

// Where one end of a message lies, with guard bytes behind it.
class MessageMemory {
 public:
  MessageMemory() = default;
  virtual ~MessageMemory() = default;
  MessageMemory(const MessageMemory&) = delete;
  MessageMemory& operator=(const MessageMemory&) = delete;

  // All of it but the guard.
  [[nodiscard]] virtual Tensor tensor() const = 0;
  virtual void fill(const Content& content) = 0;
  // The offset of the first wrong one of so many bytes; `bytes` if there is none.
  [[nodiscard]] virtual std::size_t first_wrong(const Content& content, std::size_t bytes) const = 0;
  // Throws Unexpected if something was written behind it.
  virtual void check_guard() const = 0;
};

// Makes memory of so many bytes.
using MemorySource = std::function<std::unique_ptr<MessageMemory>(std::size_t bytes)>;

std::unique_ptr<MessageMemory> host_memory(std::size_t bytes);

// For other kinds of memory: what lies behind a message.
inline constexpr std::size_t guard_bytes = 32;
inline constexpr auto guard_byte = std::byte{0xA5};
void expect_guard(const std::byte* guard);

}  // namespace parley::testing
