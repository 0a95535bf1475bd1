#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "transport/cuda/api.h"
#include "transport/cuda_ipc/device_blocks.h"
#include "transport/cuda_ipc/port.h"
#include "transport/cuda_ipc/semaphores.h"
#include "transport/interface/mover.h"
#include "transport/interface/offer_ledger.h"

namespace parley::transport::cuda_ipc {

// The two semaphores of a slot, among those of the process that offers.
[[nodiscard]] constexpr std::size_t ready_of(std::uint32_t slot) noexcept {
  return 2 * std::size_t{slot};
}
[[nodiscard]] constexpr std::size_t finished_of(std::uint32_t slot) noexcept {
  return 2 * std::size_t{slot} + 1;
}

// One offer of device memory to the peer. Two semaphores order it among the streams of both: `ready` is ours,
// the memory may be used; `finished` the peer's, it has been.
struct Slot {
  enum class State : std::uint8_t {
    free,
    held,     // by a transfer, and offered to nobody
    offered,  // the peer may take it
    taken,    // the peer has, and is about to begin its copy
    copied,   // the copy is begun: it ends with `finished`
  };
  State state = State::free;
  std::uint32_t number = 0;
  int device = -1;
  cuda::Event passed = nullptr;  // our stream has come past all that it was told because of the offer
  OfferTicket ticket;
  RemoteKey key;
  DeviceBlocks::Block block;                   // what is shown instead of memory that cannot be
  cuda::Stream stream = cuda::default_stream;  // in which `passed` was recorded
};

// Our slots of one link: made when they are first needed, and used again; they belong to the mover and to the
// transfers that are not released yet.
//
// Invariants: (1) a slot is used again when our stream has passed its last use, or in the same stream. (2)
// The stream of a message awaits its `finished` before the slot is freed. So both semaphores are signalled in
// order, as Semaphores asks for.
// Thread-safety: none; the engine's lock.
class Slots {
 public:
  static constexpr std::size_t most = Semaphores::count / 2;

  Slots(Port& port, std::shared_ptr<Semaphores> semaphores) noexcept
      : port_(port), semaphores_(std::move(semaphores)) {}
  ~Slots();
  Slots(const Slots&) = delete;
  Slots& operator=(const Slots&) = delete;

  [[nodiscard]] Semaphores& semaphores() const noexcept { return *semaphores_; }
  // A free slot of this device, which is entered, for a message in this stream; it is held then.
  // Null: all are in use, or there are no more events.
  Slot* take(int device, cuda::Stream stream) noexcept;
  // Whether our streams have passed all that they were told, and what slots in use say has been done.
  [[nodiscard]] bool are_passed() const noexcept;
  // `stream` has been told all that belongs to the offer, and is told nothing more.
  void free(Slot& slot, cuda::Stream stream) noexcept;

  // Null: there is no such slot.
  [[nodiscard]] Slot* at(std::uint32_t index) noexcept {
    return index < slots_.size() ? slots_[index].get() : nullptr;
  }

 private:
  [[nodiscard]] bool is_passed(const Slot& slot) const noexcept;
  [[nodiscard]] bool may_be_used(const Slot& slot, int device, cuda::Stream stream) const noexcept;
  Slot* make(int device) noexcept;

  Port& port_;
  std::shared_ptr<Semaphores> semaphores_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::vector<Slot*> free_;  // the one freed, or looked at, first is first: most likely it is passed
};

}  // namespace parley::transport::cuda_ipc
