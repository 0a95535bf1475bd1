#pragma once

#include <memory>
#include <string>

#include "api/nccl/library.h"

namespace parley::nccl {

struct OpenedLibrary {
  std::unique_ptr<Library> library;  // null: there is none
  std::string reason;                // why not, in words
};

// The Library over NCCL's own, which is opened by name and never linked, and stays open until the process
// ends, so there is to be one of it (runtime.h). Needs no device before its first communicator.
[[nodiscard]] OpenedLibrary open_library(const char* name = "libnccl.so.2");

}  // namespace parley::nccl
