#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "transport/cuda/api.h"
#include "transport/cuda/driver_functions.h"

namespace parley::cuda {

// The kernels that were made known, by name and device. A module belongs to one device's context, so an image
// is loaded for a device when a kernel is first launched there. Modules are never unloaded. Thread-safety:
// all calls.
class DriverKernels {
 public:
  // `functions` must outlive this.
  DriverKernels(const DriverFunctions& functions, int devices)
      : functions_(functions), loaded_(static_cast<std::size_t>(devices)) {}

  // The bytes stay where they are for as long as the process lives.
  void add(std::span<const std::byte> image);

  // REQUIRES: `device` is entered. Not found: how loading an image failed, if one did, else Code::not_found.
  Code find(const char* name, int device, CUfunction& kernel);

 private:
  // Of one device.
  struct Loaded {
    std::size_t images = 0;         // how many of images_ were tried
    std::vector<CUmodule> modules;  // those that could be loaded
    Code failure = Code::ok;        // of the last that could not
    std::map<std::string, CUfunction, std::less<>> kernels;
  };
  void load(Loaded& loaded);

  const DriverFunctions& functions_;
  std::mutex mutex_;  // guards all below
  std::vector<std::span<const std::byte>> images_;
  std::vector<Loaded> loaded_;  // by device
};

}  // namespace parley::cuda
