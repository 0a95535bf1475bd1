#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "transport/cuda_ipc/event_slots.h"
#include "transport/cuda_ipc/exports.h"
#include "transport/cuda_ipc/notes.h"
#include "transport/cuda_ipc/peer_view.h"
#include "transport/cuda_ipc/port.h"
#include "transport/interface/device_mover.h"
#include "transport/interface/offer_ledger.h"

namespace parley::transport::cuda_ipc {

class Transfer;

// One device copy from the sender's memory to the receiver's, begun by the receiver: CUDA IPC between two
// processes, nothing of the kind within one. All device memory that it is given belongs to Transfers.
//
// A message: the sender records `ready` in its stream, then offers. The receiver takes the offer, and in its
// stream waits for `ready`, copies, and records `finished`; then it tells the sender, whose streams wait for
// `finished` before they write the memory again. No host waits for a device.
// Thread-safety: none; the engine's lock.
class IpcMover final : public DeviceMover {
 public:
  // `ledger`: of the link; null: the link is to ourselves.
  IpcMover(Port& port, OfferLedger* ledger);
  ~IpcMover() override;

  [[nodiscard]] std::string_view name() const noexcept override { return "cuda_ipc"; }
  [[nodiscard]] std::string describe() const override;

  [[nodiscard]] std::optional<Exposure> expose_device(DeviceMemory& memory) noexcept override;
  bool withdraw(std::uint64_t handle) noexcept override;
  void note_pulled(std::uint64_t handle) noexcept override;
  base::Status pull_to_device(const RemoteKey& key, DeviceMemory& into, std::size_t bytes) noexcept override;
  [[nodiscard]] std::span<const std::byte> next_note() noexcept override;
  void note_sent() noexcept override { notes_.pop_front(); }
  bool take_note(std::span<const std::byte> note) noexcept override;
  void end() noexcept override;

  // Whether devices have done all that was told because of it, here and at the peer; true once the link has
  // ended.
  [[nodiscard]] bool is_idle() const noexcept;

 private:
  bool show(const Transfer& transfer, Slot& slot, Key& key);
  bool announce(Slot& slot);
  std::optional<PeerView::Source> source_of(const Key& key, std::size_t bytes) noexcept;

  Port& port_;
  OfferLedger* const ledger_;
  std::shared_ptr<EventSlots> slots_;
  Exports exports_;
  std::deque<Note> notes_;          // to be sent
  std::unique_ptr<PeerView> peer_;  // null: the link has ended
};

}  // namespace parley::transport::cuda_ipc
