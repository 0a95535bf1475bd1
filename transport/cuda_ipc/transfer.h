#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "transport/cuda/pinned_pool.h"
#include "transport/cuda_ipc/port.h"
#include "transport/cuda_ipc/read_lane.h"
#include "transport/cuda_ipc/semaphores.h"
#include "transport/cuda_ipc/slots.h"
#include "transport/interface/device_memory.h"

namespace parley::transport::cuda_ipc {

// The device memory of one send or receive, and the stream in whose order it is copied to or from. The stream
// lives as long as this does. Made by Port::begin(). Thread-safety: none; the engine's lock.
class Transfer final : public DeviceMemory, public base::ListHook<WaitingTag> {
 public:
  Transfer(Port& port, Port::Desk& desk, cuda::Stream stream, std::byte* address, std::size_t bytes) noexcept
      : port_(port), desk_(desk), stream_(stream), address_(address), bytes_(bytes) {}
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;
  ~Transfer();

  [[nodiscard]] int device() const noexcept { return desk_.device; }
  [[nodiscard]] cuda::Stream stream() const noexcept { return stream_; }
  [[nodiscard]] std::byte* address() const noexcept { return address_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

  // What the peer may copy to or from by itself: its slot, freed with this.
  void hold(std::shared_ptr<Slots> slots, Slot& slot) noexcept;
  // ... or before, if the offer was taken back.
  void let_go() noexcept;
  // Where the peer has written to a block instead of this memory: copies it from there.
  cuda::Code land(std::size_t bytes) noexcept;
  // The other way: copies between this memory and `peers`, as soon as `ready` is signalled, and signals
  // `finished`, both of this slot. REQUIRES: `finished` is promised.
  enum class Direction : std::uint8_t { from_peer, to_peer };
  cuda::Code copy(Direction direction, std::byte* peers, std::size_t bytes, Semaphores& semaphores,
                  std::uint32_t slot) noexcept;

  // What `stream`, of this device, does from now on comes after the operation. REQUIRES: it has ended well.
  // `look`: the caller waits for it and has nothing else to do: where the peer's copy ends in a moment,
  // nobody has to be told to wait for it.
  enum class Look : std::uint8_t { no, briefly };
  cuda::Code order(cuda::Stream stream, Look look = Look::no) noexcept;

  // DeviceMemory
  base::Status write(std::size_t offset, std::span<const std::byte> from) noexcept override;
  std::byte* landing_place(std::size_t bytes) noexcept override;
  base::Status landed(std::byte* place, std::size_t offset, std::size_t bytes) noexcept override;
  void abandon(std::byte* place) noexcept override;
  void begin_reading(std::size_t bytes, int receiver) noexcept override;
  base::Status next_piece(std::span<const std::byte>& piece) noexcept override;
  void piece_sent() noexcept override;
  void end_reading() noexcept override;
  void release() noexcept override { port_.end(*this); }

 private:
  // On its way from the device, or there.
  struct Piece {
    cuda::PinnedBlock* block = nullptr;
    ReadLane::Mark mark;  // the end of its copy
    std::size_t bytes = 0;
  };
  static constexpr std::uint32_t most_pieces = 4;

  cuda::Code follow_peer(Look look = Look::no) noexcept;
  static void read_ahead(ReadLane& lane) noexcept;
  bool begin_pieces() noexcept;
  cuda::Code begin_piece(cuda::PinnedBlock& block, std::size_t bytes) noexcept;
  cuda::Code look_for(const ReadLane::Mark& mark) noexcept;
  void end_piece(const Piece& piece) noexcept;
  Piece& piece_at(std::uint32_t number) noexcept { return pieces_[number % most_pieces]; }

  Port& port_;
  Port::Desk& desk_;
  const cuda::Stream stream_;
  std::byte* const address_;
  const std::size_t bytes_;

  std::shared_ptr<Slots> slots_;
  Slot* slot_ = nullptr;
  bool is_followed_ = false;  // our stream waits for the peer's copy
  cuda::PinnedBlock* landing_ = nullptr;

  // Of a send by the link: it waits in its lane until all is begun; pieces `first_` to
  // `end_` - 1 are in `pieces_`.
  ReadLane* lane_ = nullptr;
  cuda::Code reading_ = cuda::Code::ok;
  std::array<Piece, most_pieces> pieces_;
  std::uint32_t first_ = 0;
  std::uint32_t end_ = 0;
  std::size_t wanted_ = 0;  // bytes
  std::size_t begun_ = 0;   // of these, so many are sent, here or on the way
};

}  // namespace parley::transport::cuda_ipc
