#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>

#include "api/nccl/library.h"
#include "api/wireup/device_work.h"
#include "transport/cuda/api.h"

namespace parley::nccl {

// Ends one communicator, on a thread of its own: NCCL may block there, for ever if a device or a peer hangs,
// and whoever makes progress must not. After abort() or finish() nobody else calls anything for it. Before
// that the thread begins splits, for which NCCL allocates, and may have to wait for the device.
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

  // Splits the communicator; nobody calls anything for it before split_result() tells how that went. NCCL
  // writes the child here until it has told the split's end, or the communicator has ended: a child that
  // nobody has taken then is aborted. REQUIRES: the engine's lock, no end was asked for, and no split goes
  // on.
  void split(Communicator communicator, const Division& part) noexcept;
  // What the call has returned; nothing: it has not.
  [[nodiscard]] std::optional<Result> split_result() const noexcept;
  // REQUIRES: the engine's lock, and the split has ended well. Null: there is none.
  [[nodiscard]] Communicator take_child() noexcept;

  // What the device does for the communicator, for as long as that is there: until it has ended in good
  // order, if its device had something to do then; after an abort, nothing.
  [[nodiscard]] std::shared_ptr<wireup::DeviceWork> work() const noexcept;

 private:
  struct Shared;
  enum class Manner { abort, finish };
  void ask(Communicator communicator, Manner manner, bool has_work) noexcept;
  static void main(const std::shared_ptr<Shared>& shared) noexcept;
  static Result split_now(Shared& shared, Communicator communicator) noexcept;
  static void finish_now(Shared& shared) noexcept;

  const std::shared_ptr<Shared> shared_;
};

}  // namespace parley::nccl
