#pragma once

#include <memory>

#include "api/nccl/library.h"
#include "transport/cuda/api.h"

namespace parley::nccl {

// Ends one communicator, on a thread of its own: NCCL may block there, for ever if a device or a peer hangs,
// and whoever makes progress must not. After abort() or finish() nobody else calls anything for it.
class Undertaker {
 public:
  // Throws std::system_error: no thread.
  Undertaker(Library& library, cuda::Api& api, int device);
  // Waits a second for the end of what was asked for. What hangs is left to the thread, which then lasts as
  // long as the process.
  ~Undertaker();
  Undertaker(const Undertaker&) = delete;
  Undertaker& operator=(const Undertaker&) = delete;

  // The first one counts.
  void abort(Communicator communicator) noexcept;
  // In good order: once all ranks have done so, and the device has done all; after 5 s, by an abort.
  void finish(Communicator communicator) noexcept;

 private:
  struct Shared;
  enum class Manner { abort, finish };
  void ask(Communicator communicator, Manner manner) noexcept;
  static void main(const std::shared_ptr<Shared>& shared) noexcept;
  static void finish_now(Shared& shared) noexcept;

  const std::shared_ptr<Shared> shared_;
};

}  // namespace parley::nccl
