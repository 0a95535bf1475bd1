#pragma once

#include <cstddef>
#include <span>

namespace parley::bench {

// to[i] = from[0][i] + from[1][i] + ..., from the left, in one pass over up to four vectors and one more for
// each three further ones. `to` may be one of them. By the machine's widest vectors that a loop can use
// without help. REQUIRES: two vectors or more.
void fold(float* to, std::span<const float* const> from, std::size_t count) noexcept;

}  // namespace parley::bench
