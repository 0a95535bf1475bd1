#include "api/nccl/functions.h"

#include <dlfcn.h>

#include <memory>
#include <string_view>

#include "api/nccl/runtime.h"
#include "transport/base/log.h"

namespace parley::nccl {
namespace {

// The first with a configuration that other versions than the header's can read.
constexpr int oldest_version = NCCL_VERSION(2, 18, 1);

template <typename Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

struct Close {
  void operator()(void* library) const noexcept { dlclose(library); }
};

std::string lacks(const char* library, const char* name) {
  return base::concat(library, " has no function ", name, ": it is no NCCL that Parley knows");
}

}  // namespace

std::string find_functions(const char* library, Functions& functions) {
  // RTLD_LOCAL: a program's own NCCL must not find its functions in here. RTLD_NOW: what is missing is known
  // here, and not in the middle of a collective.
  std::unique_ptr<void, Close> opened(dlopen(library, RTLD_NOW | RTLD_LOCAL));
  if (!opened) {
    const char* why = dlerror();
    const std::string_view words = why != nullptr ? why : "";
    // Another file's name stands in front where the library is there and lacks one that it needs.
    if (words.starts_with(library) && words.find("No such file") != std::string_view::npos)
      return base::concat(library, " was not found: NCCL is not installed here");
    return base::concat(library, " cannot be opened: ", words);
  }
  // First of all, so that an old NCCL is called old, and not incomplete.
  decltype(&::ncclGetVersion) get_version = nullptr;
  if (!find(opened.get(), "ncclGetVersion", get_version)) return lacks(library, "ncclGetVersion");
  if (get_version(&functions.version) != ncclSuccess)
    return base::concat(library, " does not tell its version");
  if (functions.version < oldest_version)
    return base::concat("NCCL is too old: it is of version ", version_text(functions.version),
                        ", and Parley needs ", version_text(oldest_version));
#define PARLEY_FIND(member, function) \
  if (!find(opened.get(), #function, functions.member)) return lacks(library, #function);
  PARLEY_NCCL_FUNCTIONS(PARLEY_FIND)
#undef PARLEY_FIND
  (void)opened.release();  // never closed: it has threads of its own, which would lose their code
  return {};
}

}  // namespace parley::nccl
