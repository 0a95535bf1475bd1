#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "transport/base/status.h"
#include "transport/interface/packet.h"
#include "transport/interface/sink.h"
#include "transport/socket/connection.h"

namespace parley::transport {

// The receiving half of a TCP link. What is small arrives in a staging buffer, many packets per system call;
// what is left of a large payload is read straight to where the sink wants it, with the staging buffer behind
// it for what follows. Thread-safety: none.
class FrameReceiver {
 public:
  static constexpr std::size_t staging_bytes = 64 * 1024;
  static constexpr std::size_t direct_bytes = 8 * 1024;  // from so much left on, read past the staging buffer
  // Of staging behind a direct read: enough for a header, and little of the next large payload to copy.
  static constexpr std::size_t behind_bytes = 4 * 1024;
  static constexpr std::size_t whole_bytes = 4 * 1024;    // payloads up to this are delivered whole
  static constexpr std::size_t pass_bytes = 1024 * 1024;  // read in one go, for fairness

  explicit FrameReceiver(socket::Connection& connection);

  // A pass of receive() begins.
  void begin_pass() noexcept { read_in_pass_ = 0; }
  // Whether it shall go on after `ok`. What TLS holds back would wake nobody, so it is taken whatever was
  // read.
  [[nodiscard]] bool goes_on() const noexcept { return read_in_pass_ < pass_bytes || connection_.unread(); }
  // Reads by one system call and delivers that to the sink; adds the packets (and landed parts) to `events`.
  // `again`: nothing more for now. `ok`: there may be more. Else the link has ended: `peer_died` (native 0:
  // end of stream), `protocol_violation`.
  base::Status receive(Endpoint& self, PacketSink& sink, std::size_t& events) noexcept;

  // No more deliveries; called by the endpoint's close(), also from within one.
  void stop() noexcept { stopped_ = true; }

 private:
  base::Status read_once(std::size_t& bytes, std::size_t& wanted) noexcept;
  base::Status deliver(Endpoint& self, PacketSink& sink, std::size_t& events) noexcept;
  void acknowledge_now() noexcept;
  bool land(Endpoint& self, PacketSink& sink, std::size_t& events) noexcept;

  socket::Connection& connection_;
  std::unique_ptr<std::byte[]> staging_;
  std::size_t read_in_pass_ = 0;
  std::size_t head_ = 0;
  std::size_t tail_ = 0;

  PacketHeader header_;  // of the payload that is landing
  std::byte* destination_ = nullptr;
  std::size_t payload_left_ = 0;
  bool landing_ = false;
  bool stopped_ = false;
};

}  // namespace parley::transport
