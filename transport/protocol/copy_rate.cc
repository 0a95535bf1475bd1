#include "transport/protocol/copy_rate.h"

#include <algorithm>

namespace parley::transport {

namespace {
// Longer than that, once, was the scheduler.
constexpr float doubtful = 1.5F;
constexpr float weight_of_shorter = 0.5F;
}  // namespace

bool CopyRate::take(float sample, float weight_of_longer) noexcept {
  if (cold != 0) {
    --cold;
    return false;
  }
  counted = std::min<std::uint8_t>(counted + 1, few_samples);
  if (ns_per_byte == 0 || is_old) {
    ns_per_byte = sample;
    is_doubted = is_old = false;
    return true;
  }
  const bool is_doubtful = sample > doubtful * ns_per_byte;
  if (is_doubtful && !is_doubted) {
    is_doubted = true;
    return false;
  }
  is_doubted = false;
  const float more = sample - ns_per_byte;
  const bool was_disturbed = 2 * sample < ns_per_byte;
  ns_per_byte += more * (more > 0 ? weight_of_longer : was_disturbed ? 1 : weight_of_shorter);
  return true;
}

}  // namespace parley::transport
