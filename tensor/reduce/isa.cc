#include "tensor/reduce/kernels.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace parley::tensor {
namespace {

#if defined(__x86_64__)
bool has_f16c() noexcept {  // clang 14 does not know it by name
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  return __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_F16C) != 0;
}
// __builtin_cpu_supports also asks whether the operating system saves the registers.
bool has_avx2() noexcept {
  return __builtin_cpu_supports("avx2") != 0 && has_f16c();
}
bool has_avx512() noexcept {
  return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
         __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0;
}
#endif

const Kernels& choose() noexcept {
  if (const Kernels* kernels = kernels_of(Isa::avx512)) return *kernels;
  if (const Kernels* kernels = kernels_of(Isa::avx2)) return *kernels;
  return portable_kernels;
}

}  // namespace

const Kernels* kernels_of(Isa isa) noexcept {
  switch (isa) {
    case Isa::portable: return &portable_kernels;
#if defined(__x86_64__)
    case Isa::avx2: return has_avx2() ? &avx2_kernels : nullptr;
    case Isa::avx512: return has_avx512() ? &avx512_kernels : nullptr;
#else
    case Isa::avx2:
    case Isa::avx512: break;
#endif
  }
  return nullptr;
}

const char* name(Isa isa) noexcept {
  switch (isa) {
    case Isa::portable: return "portable";
    case Isa::avx2: return "avx2";
    case Isa::avx512: return "avx512";
  }
  return "unknown";
}

const Kernels& best_kernels() noexcept {
  static const Kernels& best = choose();
  return best;
}

}  // namespace parley::tensor
