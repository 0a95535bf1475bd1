#pragma once

#include <string_view>

namespace parley::fuzz {

// Ends the run as a finding. (assert() is gone in release builds.)
[[noreturn]] void found(const char* file, int line, std::string_view what);

}  // namespace parley::fuzz

#define FUZZ_EXPECT(condition)                                                            \
  do {                                                                                    \
    if (!(condition)) ::parley::fuzz::found(__FILE__, __LINE__, "not true: " #condition); \
  } while (false)
