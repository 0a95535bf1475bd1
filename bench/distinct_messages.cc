#include "bench/distinct_messages.h"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>

#include "bench/pattern.h"

namespace parley::bench {
namespace {

int messages_of(std::size_t bytes) noexcept {
  const std::size_t affordable = DistinctMessages::most_bytes / bytes;
  return static_cast<int>(std::clamp<std::size_t>(affordable, 2, DistinctMessages::most_messages));
}

}  // namespace

DistinctMessages::DistinctMessages(std::uint8_t* out, std::size_t bytes, int partner)
    : out_(out),
      bytes_(bytes),
      partner_(partner),
      count_(messages_of(bytes)),
      in_(static_cast<std::size_t>(count_) * bytes, spoiled_byte) {}

std::span<std::uint8_t> DistinctMessages::out(int message) const noexcept {
  return {out_ + message, bytes_};
}

std::span<std::uint8_t> DistinctMessages::in(int message) noexcept {
  return std::span(in_).subspan(static_cast<std::size_t>(message) * bytes_, bytes_);
}

void DistinctMessages::check(std::size_t rewritten_bytes) {
  for (int i = 0; i < count_; ++i) {
    const auto start = static_cast<std::size_t>(i);
    const std::span<const std::uint8_t> message = in(i);
    const std::size_t rewritten = std::min(rewritten_bytes - std::min(rewritten_bytes, start), bytes_);
    auto wrong = first_wrong(message.first(rewritten), partner_, start, true);
    if (!wrong) {
      wrong = first_wrong(message.subspan(rewritten), partner_, start + rewritten, false);
      if (wrong) *wrong += rewritten;
    }
    if (!wrong) continue;
    throw std::runtime_error("message " + std::to_string(i + 1) + " of " + std::to_string(count_) +
                             " that differ, received from rank " + std::to_string(partner_) + ": byte " +
                             std::to_string(*wrong) + " of " + std::to_string(bytes_) + " is wrong");
  }
  std::fill(in_.begin(), in_.end(), spoiled_byte);
}

}  // namespace parley::bench
