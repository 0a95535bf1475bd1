#include "tests/multiprocess/traffic/plan.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "tests/multiprocess/support/random.h"

namespace parley::testing {
namespace {

// Around every limit at which a message changes the way it travels: delivered whole, copied, direct, eager,
// one piece.
constexpr std::array<std::size_t, 6> edges{128, 4096, 8192, 32 * 1024, 64 * 1024, 512 * 1024};

std::size_t random_bytes(Random& random, std::size_t largest) {
  const std::size_t kind = random.below(100);
  std::size_t bytes = 0;
  if (kind < 5)
    bytes = 0;
  else if (kind < 60)
    bytes = 1 + random.below(64);
  else if (kind < 80)
    bytes = random.below(8 * 1024);
  else if (kind < 90)
    bytes = edges[random.below(edges.size() - 1)] - 40 + random.below(80);
  else if (kind < 98)
    bytes = random.below(128 * 1024);
  else
    bytes = edges.back() - 40 + random.below(80);
  return std::min(bytes, largest);
}

}  // namespace

std::vector<PlannedMessage> make_plan(const PlanOptions& options) {
  Random random(options.seed);
  const auto ranks = static_cast<std::size_t>(options.ranks);
  std::vector<PlannedMessage> plan(options.messages);
  for (PlannedMessage& message : plan) {
    message.source = static_cast<int>(random.below(ranks));
    message.destination = static_cast<int>(random.below(ranks));  // to itself, too
    message.tag = random.one_in(50) ? INT64_MAX : static_cast<std::int64_t>(random.below(options.tags));
    message.bytes = random_bytes(random, options.largest_bytes);
    message.synchronous = random.one_in(10);
    message.taken_back = random.one_in(4) && message.bytes != 0 && may_be_taken_back(message.tag);
  }
  for (int i = 0; i < 4; ++i)
    plan[random.below(plan.size())].bytes = options.largest_bytes - (i < 2 ? 0 : random.below(1000));
  return plan;
}

Content::Content(std::uint64_t seed, int source, int destination, std::int64_t tag,
                 std::uint64_t index) noexcept {
  Random random(seed);
  for (const auto part : {static_cast<std::uint64_t>(source), static_cast<std::uint64_t>(destination),
                          static_cast<std::uint64_t>(tag), index})
    random = Random(random.next() ^ part);
  key_ = random.next();
}

void Content::fill(std::byte* data, std::size_t bytes) const noexcept {
  std::size_t offset = 0;
  for (; offset + 8 <= bytes; offset += 8) {
    const std::uint64_t value = word(offset / 8);
    std::memcpy(data + offset, &value, 8);
  }
  const std::uint64_t last = word(offset / 8);
  if (offset < bytes) std::memcpy(data + offset, &last, bytes - offset);
}

std::size_t Content::first_wrong(const std::byte* data, std::size_t bytes) const noexcept {
  for (std::size_t offset = 0; offset < bytes; offset += 8) {
    const std::uint64_t value = word(offset / 8);
    const std::size_t length = std::min<std::size_t>(8, bytes - offset);
    if (std::memcmp(data + offset, &value, length) == 0) continue;
    std::array<std::byte, 8> expected;
    std::memcpy(expected.data(), &value, 8);
    while (data[offset] == expected[offset % 8]) ++offset;
    return offset;
  }
  return bytes;
}

}  // namespace parley::testing
