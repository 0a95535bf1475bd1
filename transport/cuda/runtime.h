#pragma once

#include <string>

#include "transport/cuda/api.h"

namespace parley::cuda {

// The CUDA of this process: the driver's library, opened by the first call, if this build has CUDA and the
// machine a device. Null: there is none, and reason_against() says why. The object lives as long as the
// process. Thread-safety: any thread.
[[nodiscard]] Api* runtime() noexcept;
// In words, "" if there is one: "libcuda.so.1 was not found: no NVIDIA driver is installed here".
[[nodiscard]] std::string reason_against();

// Whether runtime() has been asked for in this process and is there: never opens the library.
[[nodiscard]] bool is_in_use() noexcept;

// Whether a test has put another one in the driver's place.
[[nodiscard]] bool is_replaced() noexcept;

// For tests: `api` instead of the driver's, null for none (with `reason`), until the next call. Nothing of
// the one before may be in use.
void replace_runtime(Api* api, std::string reason);

}  // namespace parley::cuda
