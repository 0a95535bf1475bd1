#pragma once

#include <parley/process_group.h>

#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

#include "tests/multiprocess/support/random.h"

namespace parley::testing {

// One collective with random arguments, the same on all ranks of the group as long as their generators are.
// Every result is checked; what is wrong is thrown as Unexpected.
struct MixedCall {
  std::string_view name;
  void (*run)(ProcessGroup& group, Random& random);
};

// All of them. A further collective is a line in mix.cc.
[[nodiscard]] const std::vector<MixedCall>& mixed_calls();

// A random one.
void run_mixed_call(ProcessGroup& group, Random& random);

}  // namespace parley::testing
