#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace parley::testing {

// One message of a random program.
struct PlannedMessage {
  int source = 0;
  int destination = 0;
  std::int64_t tag = 0;
  std::size_t bytes = 0;
  bool synchronous = false;
  bool taken_back = false;  // where it still can be, and then sent once more
};

// Messages with these tags may be taken back, and the others truncated. Both of one would not agree: a
// receive that wants no data has ended before its sender hears of it, who can still take the message back and
// send it again.
[[nodiscard]] constexpr bool may_be_taken_back(std::int64_t tag) {
  return tag % 2 == 0;
}

struct PlanOptions {
  std::uint64_t seed = 1;
  int ranks = 2;
  std::size_t messages = 1000;
  std::size_t largest_bytes = std::size_t{1} << 20;
  std::size_t tags = 7;
};

// Who sends what to whom, in the order in which each rank sends. All ranks compute the same plan. Few
// messages are large, so that all of them together stay near messages * 16 KiB + 4 * largest_bytes.
[[nodiscard]] std::vector<PlannedMessage> make_plan(const PlanOptions& options);

// The content of the index-th message of (source, destination, tag): a different byte at each offset, so that
// a piece at a wrong place is seen.
class Content {
 public:
  Content(std::uint64_t seed, int source, int destination, std::int64_t tag, std::uint64_t index) noexcept;
  void fill(std::byte* data, std::size_t bytes) const noexcept;
  // The offset of the first wrong byte; `bytes` if there is none.
  [[nodiscard]] std::size_t first_wrong(const std::byte* data, std::size_t bytes) const noexcept;

 private:
  [[nodiscard]] std::uint64_t word(std::size_t number) const noexcept {
    return key_ + number * 0x9E3779B97F4A7C15U;
  }
  std::uint64_t key_;
};

}  // namespace parley::testing
