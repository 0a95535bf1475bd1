#include "tests/simulated_device/calls.h"

namespace parley::cuda::testing {

Code Calls::begin(Call call) {
  const std::lock_guard lock(mutex_);
  Kind& kind = kinds_[static_cast<std::size_t>(call)];
  ++kind.count;
  if (kind.failures.empty()) return Code::ok;
  const Code code = kind.failures.front();
  kind.failures.pop_front();
  return code;
}

std::uint64_t Calls::count(Call call) const {
  const std::lock_guard lock(mutex_);
  return kinds_[static_cast<std::size_t>(call)].count;
}

void Calls::fail_next(Call call, Code code, int times) {
  const std::lock_guard lock(mutex_);
  Kind& kind = kinds_[static_cast<std::size_t>(call)];
  kind.failures.insert(kind.failures.end(), static_cast<std::size_t>(times), code);
}

}  // namespace parley::cuda::testing
