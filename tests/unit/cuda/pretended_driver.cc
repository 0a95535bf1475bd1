// A library with the names of CUDA's driver. Each function returns what the variable PRETENDED_<its name>
// says, 0 without one; the version is PRETENDED_VERSION. Weak: pretended_behaviour.cc knows better about
// some.
#include <cstdlib>

#include "transport/cuda/driver_functions.h"

namespace {

int number_in(const char* variable) {
  const char* text = std::getenv(variable);
  return text != nullptr ? std::atoi(text) : 0;
}

}  // namespace

#define TEXT_OF(function) TEXT_OF_EXPANDED(function)
#define TEXT_OF_EXPANDED(function) #function
// The asm name, for cuda.h has declared the other with parameters.
#define PRETEND(member, function)                                                   \
  extern "C" int pretended_##member() asm(TEXT_OF(function)) __attribute__((weak)); \
  int pretended_##member() {                                                        \
    return number_in("PRETENDED_" TEXT_OF(function));                               \
  }

#ifdef COMPLETE
PARLEY_CUDA_FUNCTIONS(PRETEND)
#endif

CUresult cuDriverGetVersion(int* version) {
  *version = number_in("PRETENDED_VERSION");
  return CUDA_SUCCESS;
}
