#pragma once

#include <cstdlib>
#include <string_view>

namespace parley {

// Whether the full counts shall be run (PARLEY_LONG_TESTS=1, which `tools/test --long` sets).
[[nodiscard]] inline bool long_tests() {
  const char* value = std::getenv("PARLEY_LONG_TESTS");
  return value != nullptr && std::string_view(value) == "1";
}

}  // namespace parley
