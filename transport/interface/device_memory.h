#pragma once

#include <cstddef>
#include <span>

#include "transport/base/status.h"

namespace parley::transport {

// Memory that no CPU reaches, as one send or receive sees it: how bytes come there from memory of the host,
// and back. What is written is on its way when a call returns, ordered after what was begun before; nobody
// waits for a device here. Made by the layer above for one request, and released with it.
// A failed status is `device_failed`, its number the device's own.
// Thread-safety: none; the engine's lock.
class DeviceMemory {
 public:
  // Of a receive.
  // Copies to `offset`; `from` may be reused at once.
  virtual base::Status write(std::size_t offset, std::span<const std::byte> from) noexcept = 0;
  // Where so many bytes for it may land first. Null: there is no room now, and write() is the other way.
  // Each place is given back by one of the two below.
  virtual std::byte* landing_place(std::size_t bytes) noexcept = 0;
  // Copies what has landed at `place` to `offset`.
  virtual base::Status landed(std::byte* place, std::size_t offset, std::size_t bytes) noexcept = 0;
  // Nothing, or something that nobody wants, has landed there.
  virtual void abandon(std::byte* place) noexcept = 0;

  // Of a send that goes by the link to the process `receiver`: pieces of the first `bytes` bytes, in order.
  // Of several sends to one receiver in one stream those that begin first are read first.
  virtual void begin_reading(std::size_t bytes, int receiver) noexcept = 0;
  // The next piece. ok: it is there, until piece_sent(); again: it is on the way.
  virtual base::Status next_piece(std::span<const std::byte>& piece) noexcept = 0;
  virtual void piece_sent() noexcept = 0;
  // The send has ended, and no piece is being sent: nothing more is read. Harmless where nothing was begun.
  virtual void end_reading() noexcept = 0;

  // The request is gone; ends the object's life.
  virtual void release() noexcept = 0;

 protected:
  ~DeviceMemory() = default;
};

}  // namespace parley::transport
