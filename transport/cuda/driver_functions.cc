#include "transport/cuda/driver_functions.h"

#include <dlfcn.h>

#include <memory>
#include <string_view>

#include "transport/base/log.h"

namespace parley::cuda {
namespace {

// The oldest driver that has all functions in the versions that are compiled in.
constexpr int oldest_version = 12000;

// The name of a function after cuda.h has mapped it to its version.
#define PARLEY_NAME_OF(function) PARLEY_TEXT_OF(function)
#define PARLEY_TEXT_OF(function) #function

template <typename Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

struct Close {
  void operator()(void* library) const noexcept { dlclose(library); }
};

std::string lacks(const char* library, const char* name) {
  return base::concat(library, " has no function ", name, ": it is no CUDA driver that Parley knows");
}

}  // namespace

std::string version_text(int version) {
  return base::concat(version / 1000, ".", version % 1000 / 10);
}

std::string find_functions(const char* library, DriverFunctions& functions) {
  // RTLD_LOCAL: a program's own CUDA must not find its functions in here. RTLD_NOW: what is missing is known
  // here, and not in the middle of a message.
  std::unique_ptr<void, Close> opened(dlopen(library, RTLD_NOW | RTLD_LOCAL));
  if (!opened) {
    const char* why = dlerror();
    const std::string_view words = why != nullptr ? why : "";
    // Another file's name stands in front where the library is there and lacks one that it needs.
    if (words.starts_with(library) && words.find("No such file") != std::string_view::npos)
      return base::concat(library, " was not found: no NVIDIA driver is installed here");
    return base::concat(library, " cannot be opened: ", words);
  }
  // First of all, so that an old driver is called old, and not incomplete.
  decltype(&::cuDriverGetVersion) get_version = nullptr;
  if (!find(opened.get(), "cuDriverGetVersion", get_version)) return lacks(library, "cuDriverGetVersion");
  if (get_version(&functions.version) != CUDA_SUCCESS)
    return base::concat(library, " does not tell its version");
  if (functions.version < oldest_version)
    return base::concat("the CUDA driver is too old: it is of version ", version_text(functions.version),
                        ", and Parley needs ", version_text(oldest_version));
#define PARLEY_FIND(member, function)                                  \
  if (!find(opened.get(), PARLEY_NAME_OF(function), functions.member)) \
    return lacks(library, PARLEY_NAME_OF(function));
  PARLEY_CUDA_FUNCTIONS(PARLEY_FIND)
#undef PARLEY_FIND
  (void)opened.release();  // never closed: at exit others may still be in it
  return {};
}

}  // namespace parley::cuda
