#pragma once

#include <cstddef>

namespace parley::bench {

inline constexpr std::size_t kib = 1024;
inline constexpr std::size_t mib = 1024 * kib;

}  // namespace parley::bench
