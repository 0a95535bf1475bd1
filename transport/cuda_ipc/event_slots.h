#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "transport/cuda/api.h"
#include "transport/cuda_ipc/device_blocks.h"
#include "transport/cuda_ipc/port.h"
#include "transport/interface/offer_ledger.h"

namespace parley::transport::cuda_ipc {

// One offer of device memory to the peer, and the two events that order it among the streams of both.
struct Slot {
  enum class State : std::uint8_t {
    free,
    held,     // by a transfer, and offered to nobody
    offered,  // the peer may take it
    taken,    // the peer has, and is about to begin its copy
    pulled,   // the copy is begun: it ends with `finished`
  };
  State state = State::free;
  int device = -1;
  cuda::Event ready = nullptr;     // recorded by us: the memory holds the message
  cuda::Event finished = nullptr;  // recorded by the peer: it has been copied
  bool is_announced = false;       // the peer knows its events
  OfferTicket ticket;
  DeviceBlocks::Block block;  // what is shown instead of memory that cannot be
};

// The sender's slots of one link: made when they are first needed, and used again; they belong to the mover
// and to the sends that are not released yet.
//
// Invariants: (1) `ready` is recorded again only when its slot was freed: the peer has begun its copy, so it
// waits for the event as it was, or will never look at it. (2) Who waits for `finished` does that before its
// slot is freed. A recording that comes later would be waited for as well, which is late, but not wrong.
// Thread-safety: none; the engine's lock.
class EventSlots {
 public:
  static constexpr std::size_t most = 256;

  EventSlots(Port& port, cuda::Api::EventUse use) noexcept : port_(port), use_(use) {}
  ~EventSlots();
  EventSlots(const EventSlots&) = delete;
  EventSlots& operator=(const EventSlots&) = delete;

  // A free slot with events of this device, which is entered; it is held then. Null: all are in use, or there
  // are no more events.
  Slot* take(int device) noexcept;
  // `stream` has been told all that uses the slot's block, in case it has one.
  void free(Slot& slot, cuda::Stream stream) noexcept;

  [[nodiscard]] std::uint32_t index_of(const Slot& slot) const noexcept;
  // Null: there is no such slot.
  [[nodiscard]] Slot* at(std::uint32_t index) noexcept {
    return index < slots_.size() ? slots_[index].get() : nullptr;
  }

 private:
  Port& port_;
  const cuda::Api::EventUse use_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::vector<Slot*> free_;
};

}  // namespace parley::transport::cuda_ipc
