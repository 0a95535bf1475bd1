#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "transport/cuda_ipc/exports.h"
#include "transport/cuda_ipc/notes.h"
#include "transport/cuda_ipc/peer_view.h"
#include "transport/cuda_ipc/port.h"
#include "transport/cuda_ipc/slots.h"
#include "transport/cuda_ipc/transfer.h"
#include "transport/interface/device_mover.h"
#include "transport/interface/offer_ledger.h"

namespace parley::transport::cuda_ipc {

// One device copy from the sender's memory to the receiver's: by CUDA IPC between two processes, by its
// address within one. All device memory that it is given belongs to Transfers.
//
// A message: the sender has its stream signal `ready`, then offers. The receiver takes the offer, and has its
// stream await `ready`, copy, and signal `finished`; then it tells the sender, whose streams await `finished`
// before they write the memory again. No host waits for a device.
//
// Between two processes on one device one of them makes all copies: a device that goes to and fro between the
// contexts of two processes loses more time than most copies take (README.md). Where that is the sender, the
// receiver answers the offer with a place, which is offered in the same way, and the sender takes it; and as
// soon as the sender knows that it will, it shows nothing.
// Thread-safety: none; the engine's lock.
class IpcMover final : public DeviceMover {
 public:
  // `ledger`: of the link. `copies`: which end makes the copies within a device that both use; the other end
  // has the other one. Within a process that is all the same, and who receives copies.
  enum class Copies : std::uint8_t { by_us, by_peer };
  IpcMover(Port& port, OfferLedger& ledger, Copies copies);
  ~IpcMover() override;

  [[nodiscard]] std::string_view name() const noexcept override { return "cuda_ipc"; }
  [[nodiscard]] std::string describe() const override;

  [[nodiscard]] std::optional<Exposure> expose_device(DeviceMemory& memory) noexcept override;
  [[nodiscard]] std::optional<Exposure> expose_place(DeviceMemory& memory,
                                                     std::size_t bytes) noexcept override;
  base::Status note_pushed(std::uint64_t handle, DeviceMemory& into, std::size_t bytes) noexcept override;
  [[nodiscard]] RemoteKey key_of(std::uint64_t handle) const noexcept override;
  bool withdraw(std::uint64_t handle) noexcept override;
  void note_pulled(std::uint64_t handle) noexcept override;
  base::Status pull_to_device(const RemoteKey& key, DeviceMemory& into, std::size_t bytes) noexcept override;
  [[nodiscard]] bool leaves_copy_to_peer(const RemoteKey& key,
                                         const DeviceMemory& into) const noexcept override;
  base::Status push_from_device(const RemoteKey& key, DeviceMemory& from,
                                std::size_t bytes) noexcept override;
  [[nodiscard]] std::span<const std::byte> next_note() noexcept override;
  void note_sent() noexcept override { notes_.pop_front(); }
  bool take_note(std::span<const std::byte> note) noexcept override;
  void release_waiters() noexcept override;
  void end() noexcept override;
  [[nodiscard]] bool look_after_end() noexcept override;

  // Nobody waits any more for what the peer's streams have been told, nor the peer's for ours.
  void give_up_waiting() noexcept;
  // Whether devices have done all that was told because of it, here and, as long as there is a link, at the
  // peer.
  [[nodiscard]] bool is_idle() const noexcept;

 private:
  enum class Use : std::uint8_t { to_be_read, to_be_written };
  std::optional<Exposure> offer(Transfer& transfer, std::size_t bytes, Use use) noexcept;
  bool open(Semaphores& semaphores, int device) noexcept;
  void end_watch() noexcept;
  bool show(const Transfer& transfer, std::size_t bytes, Use use, Slot& slot, Key& key);
  base::Status copy(Transfer::Direction direction, const RemoteKey& key, Transfer& transfer,
                    std::size_t bytes) noexcept;
  [[nodiscard]] std::byte* find(const Key& key, const Transfer& transfer, std::size_t bytes) noexcept;
  void connect(int device, int other) noexcept;

  Port& port_;
  OfferLedger& ledger_;
  const bool is_within_process_;
  const Copies copies_;
  std::pair<int, int> connected_{-1, -1};  // within a process: device and memory of the last copy between two
  std::shared_ptr<Slots> slots_;
  Exports exports_;
  std::deque<Note> notes_;            // to be sent
  std::unique_ptr<PeerView> peer_;    // null: the link has ended
  std::shared_ptr<Semaphores> left_;  // the peer's, from the link's end on, until nothing of ours waits
  bool is_peer_gone_ = false;
  bool is_watched_ = false;
  LifeWatch::Number watch_ = 0;  // 0: it is not watched, or cannot be
};

}  // namespace parley::transport::cuda_ipc
