#include "transport/cuda/driver_kernels.h"

#include <functional>

namespace parley::cuda {

void DriverKernels::add(std::span<const std::byte> image) {
  const std::lock_guard lock(mutex_);
  images_.push_back(image);
}

void DriverKernels::load(Loaded& loaded) {
  for (; loaded.images < images_.size(); ++loaded.images) {
    CUmodule module = nullptr;
    const CUresult result = functions_.module_load_data(&module, images_[loaded.images].data());
    if (result == CUDA_SUCCESS) {
      loaded.modules.push_back(module);
    } else {
      loaded.failure = static_cast<Code>(result);  // there may be no code in it for this kind of device
    }
  }
}

Code DriverKernels::find(const char* name, int device, CUfunction& kernel) {
  const std::lock_guard lock(mutex_);
  Loaded& loaded = loaded_[static_cast<std::size_t>(device)];
  if (const auto known = loaded.kernels.find(name); known != loaded.kernels.end()) {
    kernel = known->second;
    return Code::ok;
  }
  load(loaded);
  for (CUmodule module : loaded.modules) {
    if (functions_.module_get_function(&kernel, module, name) != CUDA_SUCCESS) continue;
    loaded.kernels.emplace(name, kernel);
    return Code::ok;
  }
  return loaded.failure != Code::ok ? loaded.failure : Code::not_found;
}

}  // namespace parley::cuda
