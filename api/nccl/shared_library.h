#pragma once

#include <memory>
#include <string>

#include "api/nccl/library.h"

namespace parley::nccl {

struct OpenedLibrary {
  std::unique_ptr<Library> library;  // null: there is none
  std::string reason;                // why not, in words
};

// NCCL itself, opened by name and never linked. Initialises nothing.
[[nodiscard]] OpenedLibrary open_library(const char* name = "libnccl.so.2");

}  // namespace parley::nccl
