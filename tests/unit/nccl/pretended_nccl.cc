// A library with the names of NCCL's functions. Its version is PRETENDED_VERSION; each function returns what
// the variable PRETENDED_<its name> says, 0 without one.
#include <cstdlib>

#include "api/nccl/functions.h"

namespace {

int number_in(const char* variable) {
  const char* text = std::getenv(variable);
  return text != nullptr ? std::atoi(text) : 0;
}

}  // namespace

#define TEXT_OF(function) #function
// The asm name, for nccl.h has declared the other with parameters.
#define PRETEND(member, function)                             \
  extern "C" int pretended_##member() asm(TEXT_OF(function)); \
  int pretended_##member() {                                  \
    return number_in("PRETENDED_" TEXT_OF(function));         \
  }

#ifdef COMPLETE
PARLEY_NCCL_FUNCTIONS(PRETEND)
#endif

ncclResult_t ncclGetVersion(int* version) {
  *version = number_in("PRETENDED_VERSION");
  return ncclSuccess;
}
