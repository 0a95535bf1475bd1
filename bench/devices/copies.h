#pragma once

#include <cstddef>
#include <cstdint>

#include "bench/devices/rank_device.h"

namespace parley::bench {

// What one process copies from and to: on its device, on the device that the messages go to, and on the host.
// All of it is written. Borrows the device. Errors: as RankDevice.
class CopyMemory {
 public:
  // `other`: the number of the device that the messages go to; mostly the same one.
  CopyMemory(RankDevice& device, std::size_t bytes, int other);

  [[nodiscard]] RankDevice& device() noexcept { return device_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return source_.size(); }
  [[nodiscard]] std::byte* source() const noexcept { return source_.data(); }
  [[nodiscard]] std::byte* target() const noexcept { return target_.data(); }
  [[nodiscard]] std::byte* pinned() const noexcept { return pinned_.data(); }

  // Writes all that is copied from anew, with other bytes, and waits until that is done.
  void rewrite();

 private:
  RankDevice& device_;
  DeviceBytes source_;
  DeviceBytes target_;
  DeviceBytes pinned_;
  std::uint8_t value_ = 0;
};

// The limit of messages between devices, and between a device and the host: one process copies the same bytes
// and waits for an event; no other process takes part, and no library. A System of phase.h for the end that
// leads: it makes the copies that the messages of both ends take.
//
// * Ping-pong: a copy and an event for each message. At 8 B that is the smallest copy plus event.
// * Windows: a copy for each message, and one event.
class CopySystem {
 public:
  // `from` and `to`: of the memory, which it borrows. `window`: copies of a window.
  CopySystem(CopyMemory& memory, const std::byte* from, std::byte* to, int window) noexcept
      : device_(memory.device()), from_(from), to_(to), bytes_(memory.bytes()), window_(window) {}

  void send() { copy(1), device_.finish(); }
  void recv() { send(); }
  void send_window() { copy(window_), device_.finish(); }
  void recv_window() { send_window(); }
  void exchange_windows() { copy(2 * window_), device_.finish(); }
  void send_ack() noexcept {}
  void recv_ack() noexcept {}

 private:
  void copy(int count) {
    for (int i = 0; i < count; ++i) device_.copy(to_, from_, bytes_);
  }

  RankDevice& device_;
  const std::byte* from_;
  std::byte* to_;
  std::size_t bytes_;
  int window_;
};

}  // namespace parley::bench
