#pragma once

#include <memory>
#include <string>

#include "transport/cuda/api.h"

namespace parley::cuda {

struct OpenedDriver {
  std::unique_ptr<Api> api;  // null: there is none
  std::string reason;        // why not, in words
};

// The Api over CUDA's driver, which is opened by name and never linked. Initialises CUDA in this process;
// makes no context before a device is entered. What it retains (library, contexts, kernels) stays until the
// process ends, so there is to be one of it (runtime.h). After exit() has begun its calls fail with
// Code::deinitialized.
[[nodiscard]] OpenedDriver open_driver(const char* library = "libcuda.so.1");

}  // namespace parley::cuda
