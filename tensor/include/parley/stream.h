#pragma once

#include <parley/export.h>

namespace parley {

// Sets, as long as it lives, the CUDA stream in whose order this thread's operations on device memory are
// done; before and after that it is the one before. CUDA itself has no current stream: without a guard it is
// the legacy default stream.
//
// An operation copies in the stream that was current when it was called; that stream lives until the
// operation was waited for, and so does the one that was current when a test() found its end. Waiting orders
// the stream that is current then.
// Thread-safety: of its own thread only.
class PARLEY_API StreamGuard {
 public:
  // A cudaStream_t or CUstream; null: the legacy default stream.
  explicit StreamGuard(void* stream) noexcept;
  ~StreamGuard();
  StreamGuard(const StreamGuard&) = delete;
  StreamGuard& operator=(const StreamGuard&) = delete;

 private:
  void* previous_;
};

// This thread's.
[[nodiscard]] PARLEY_API void* current_stream() noexcept;

}  // namespace parley
