#pragma once

#include <string>

#include "api/nccl/library.h"

namespace parley::nccl {

// The NCCL of this process: libnccl.so.2, opened by the first call, if this build has NCCL and the machine a
// library that Parley knows. Null: there is none, and reason_against() says why. It lives as long as the
// process. Thread-safety: any thread.
[[nodiscard]] Library* runtime() noexcept;
// In words, "" if there is one: "libnccl.so.2 was not found: NCCL is not installed here".
[[nodiscard]] std::string reason_against();
// "2.28.9" of 22809.
[[nodiscard]] std::string version_text(int version);

// For tests: `library` instead of NCCL's own, null for none (with `reason`), until the next call. Nothing of
// the one before may be in use.
void replace_runtime(Library* library, std::string reason);

}  // namespace parley::nccl
