#pragma once

#include <functional>
#include <string>

#include "transport/cuda/api.h"

namespace parley::tests {

// Whether device memory, and a word that streams write and wait for, go from one process to another, tried
// with device 0, one forked child that offers and this process that takes; each gets its CUDA by `open`,
// which does not return null. "works", or "no:" and in words which call failed and how. REQUIRES: this
// process has one thread and has not opened CUDA. It has afterwards.
[[nodiscard]] std::string check_ipc(const std::function<cuda::Api*()>& open);

}  // namespace parley::tests
