#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "api/nccl/library.h"
#include "api/wireup/device_work.h"
#include "transport/cuda/api.h"

namespace parley::nccl {

// Ends one communicator, on a thread of its own: NCCL may block there, for ever if a device or a peer hangs,
// and whoever makes progress must not. After abort() or finish() nobody else calls anything for it.
class Undertaker {
 public:
  // `is_idle`: whether the device has done what it was told; asked before abort() or finish() alone, with the
  // engine's lock, and does not throw. `patience`: how long finish() may take. Throws std::system_error: no
  // thread.
  Undertaker(Library& library, cuda::Api& api, int device, std::function<bool()> is_idle,
             std::chrono::milliseconds patience = std::chrono::seconds(5));
  // Waits a second for the end of what was asked for. What hangs is left to the thread, which then lasts as
  // long as the process.
  ~Undertaker();
  Undertaker(const Undertaker&) = delete;
  Undertaker& operator=(const Undertaker&) = delete;

  // The first one counts. REQUIRES: the engine's lock, if anybody has work().
  void abort(Communicator communicator) noexcept;
  // In good order: once all ranks have done so, and the device has done all. When the patience has passed, by
  // an abort, which is logged. `has_work`: the device has something to do yet.
  void finish(Communicator communicator, bool has_work) noexcept;

  // What the device does for the communicator, for as long as that is there: until it has ended in good
  // order, if its device had something to do then; after an abort, nothing.
  [[nodiscard]] std::shared_ptr<wireup::DeviceWork> work() const noexcept;

 private:
  struct Shared;
  enum class Manner { abort, finish };
  void ask(Communicator communicator, Manner manner, bool has_work) noexcept;
  static void main(const std::shared_ptr<Shared>& shared) noexcept;
  static void finish_now(Shared& shared) noexcept;

  const std::shared_ptr<Shared> shared_;
};

}  // namespace parley::nccl
