#include "bench/limits/fold.h"

#include <algorithm>

namespace parley::bench {
namespace {

// Up to so many elements a call of another function takes longer than the sum.
constexpr std::size_t small_count = 16;
// Vectors of one pass.
constexpr std::size_t most_at_once = 4;

// Inlined into one function for each set of instructions.
[[gnu::always_inline]] inline void add_few(float* to, const float* const* from, std::size_t vectors,
                                           std::size_t count) noexcept {
  const float* const a = from[0];
  const float* const b = from[1];
  if (vectors == 2) {
    for (std::size_t i = 0; i < count; ++i) to[i] = a[i] + b[i];
    return;
  }
  const float* const c = from[2];
  if (vectors == 3) {
    for (std::size_t i = 0; i < count; ++i) to[i] = a[i] + b[i] + c[i];
    return;
  }
  const float* const d = from[3];
  for (std::size_t i = 0; i < count; ++i) to[i] = a[i] + b[i] + c[i] + d[i];
}

using AddFew = void (*)(float*, const float* const*, std::size_t, std::size_t);

void add_few_plainly(float* to, const float* const* from, std::size_t vectors, std::size_t count) {
  add_few(to, from, vectors, count);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) void add_few_by_avx2(float* to, const float* const* from, std::size_t vectors,
                                                     std::size_t count) {
  add_few(to, from, vectors, count);
}
#endif

AddFew fastest() noexcept {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") != 0) return add_few_by_avx2;
#endif
  return add_few_plainly;
}

}  // namespace

void fold(float* to, std::span<const float* const> from, std::size_t count) noexcept {
  static const AddFew by_vectors = fastest();
  const AddFew add = count <= small_count ? add_few_plainly : by_vectors;
  std::size_t done = std::min(from.size(), most_at_once);
  add(to, from.data(), done, count);
  while (done < from.size()) {
    const std::size_t more = std::min(from.size() - done, most_at_once - 1);
    const float* const group[most_at_once] = {to, from[done], more > 1 ? from[done + 1] : nullptr,
                                              more > 2 ? from[done + 2] : nullptr};
    add(to, group, more + 1, count);
    done += more;
  }
}

}  // namespace parley::bench
