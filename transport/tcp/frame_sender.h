#pragma once

#include <array>
#include <cstddef>
#include <memory>

#include "transport/base/memory_ref.h"
#include "transport/base/status.h"
#include "transport/interface/completion.h"
#include "transport/interface/packet.h"
#include "transport/socket/connection.h"

namespace parley::transport {

// The sending half of a TCP link: a staging buffer in which small packets gather, and at most one large
// packet behind it that leaves straight from the caller's memory. Invariant: bytes enter the socket in the
// order [staging][large header][large payload]; while a large packet is leaving, nothing is staged.
// Thread-safety: none.
class FrameSender {
 public:
  static constexpr std::size_t staging_bytes = 64 * 1024;
  static constexpr std::size_t copy_limit_bytes = 8 * 1024;  // larger payloads leave from the caller's memory
  static constexpr std::size_t flush_bytes = 32 * 1024;  // staged packets that leave without being asked to
  // Of large packets, until begin_pass(): else two that send to each other would first fill the kernel's
  // buffers, and the caches with them.
  static constexpr std::size_t pass_bytes = 1024 * 1024;

  explicit FrameSender(socket::Connection& connection);

  // As Endpoint::try_send; never calls a completion. A failed socket call is the result here and ever after.
  base::Status post(const PacketHeader& header, const base::ConstMemoryRef& payload, Completion* done,
                    bool at_once) noexcept;

  // The owner has looked at what has come: as much may leave again.
  void begin_pass() noexcept { left_in_pass_ = pass_bytes; }
  // Whether something of a large packet has left since.
  [[nodiscard]] bool has_used_pass() const noexcept { return left_in_pass_ != pass_bytes; }

  // Writes as much as the socket takes, and the pass. `in_progress`: something is left. What ends a large
  // packet takes its completion next.
  base::Status write_out() noexcept;
  // The same of small packets, unless a large one is leaving: then none is staged that was not tried.
  base::Status write_staged() noexcept {
    return large_left() == 0 ? write_out() : base::Status(base::Code::in_progress);
  }

  // The completion of the large packet, once all of it has left (or the link is given up); else nullptr.
  Completion* take_finished() noexcept;
  Completion* take_abandoned() noexcept;

  [[nodiscard]] bool empty() const noexcept { return staged() == 0 && large_left() == 0; }

 private:
  struct Large {
    std::array<std::byte, sizeof(PacketHeader)> header;
    std::size_t header_sent = sizeof(PacketHeader);
    const std::byte* payload = nullptr;
    std::size_t payload_left = 0;
    Completion* done = nullptr;
  };
  [[nodiscard]] std::size_t staged() const noexcept { return tail_ - head_; }
  [[nodiscard]] std::size_t large_left() const noexcept {
    return sizeof(PacketHeader) - large_.header_sent + large_.payload_left;
  }
  // So that a large packet's payload, posted next, lies well.
  void stage_padding(const std::byte* payload) noexcept;
  void stage(const void* data, std::size_t bytes) noexcept;
  void consume(std::size_t bytes) noexcept;
  base::Status write_once() noexcept;

  socket::Connection& connection_;
  std::unique_ptr<std::byte[]> staging_;
  std::size_t head_ = 0;
  std::size_t tail_ = 0;
  Large large_;
  std::size_t left_in_pass_ = pass_bytes;
};

}  // namespace parley::transport
