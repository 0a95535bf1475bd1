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
  DeviceBlocks::Block block;                   // what is shown instead of memory that cannot be
  bool was_taken = false;                      // before it was freed last, and then:
  cuda::Stream stream = cuda::default_stream;  // in which `ready` was recorded
};

// The sender's slots of one link: made when they are first needed, and used again; they belong to the mover
// and to the sends that are not released yet.
//
// Invariants: (1) an event that somebody may wait for is recorded again only when it was reached, or in the
// same stream, which comes to it later: between processes it is promised nowhere that who waits does so for
// the event as it was. (2) The stream of a message waits for its `finished` before the slot is freed; so in
// the same stream the next `ready` comes after that, too.
// Thread-safety: none; the engine's lock.
class EventSlots {
 public:
  static constexpr std::size_t most = 256;

  EventSlots(Port& port, cuda::Api::EventUse use) noexcept : port_(port), use_(use) {}
  ~EventSlots();
  EventSlots(const EventSlots&) = delete;
  EventSlots& operator=(const EventSlots&) = delete;

  // A free slot with events of this device, which is entered, for a message in this stream; it is held then.
  // Null: all are in use, or there are no more events.
  Slot* take(int device, cuda::Stream stream) noexcept;
  // Whether streams have come to all that was recorded, here and at the peer.
  [[nodiscard]] bool are_reached() const noexcept;
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
  [[nodiscard]] bool is_reached(const Slot& slot) const noexcept;
  [[nodiscard]] bool may_be_used(const Slot& slot, int device, cuda::Stream stream) const noexcept;
  Slot* make(int device) noexcept;

  std::vector<std::unique_ptr<Slot>> slots_;
  std::vector<Slot*> free_;  // the one freed, or looked at, first is first: most likely it is reached
};

}  // namespace parley::transport::cuda_ipc
