#include "tests/multiprocess/traffic/message_memory.h"

#include <algorithm>

#include "tests/multiprocess/support/ranks.h"

namespace parley::testing {
namespace {

class HostMemory final : public MessageMemory {
 public:
  // Not zeroed: untouched pages of an oversized buffer cost nothing.
  explicit HostMemory(std::size_t bytes) : bytes_(bytes), memory_(new std::byte[bytes + guard_bytes]) {
    std::fill_n(memory_.get() + bytes_, guard_bytes, guard_byte);
  }
  [[nodiscard]] Tensor tensor() const override { return Tensor::bytes(memory_.get(), bytes_); }
  void fill(const Content& content) override { content.fill(memory_.get(), bytes_); }
  [[nodiscard]] std::size_t first_wrong(const Content& content, std::size_t bytes) const override {
    return content.first_wrong(memory_.get(), bytes);
  }
  void check_guard() const override { expect_guard(memory_.get() + bytes_); }

 private:
  std::size_t bytes_;
  std::unique_ptr<std::byte[]> memory_;
};

}  // namespace

std::unique_ptr<MessageMemory> host_memory(std::size_t bytes) {
  return std::make_unique<HostMemory>(bytes);
}

void expect_guard(const std::byte* guard) {
  expect(std::all_of(guard, guard + guard_bytes, [](std::byte byte) { return byte == guard_byte; }),
         "nothing is written behind a buffer");
}

}  // namespace parley::testing
