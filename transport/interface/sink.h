#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "transport/base/memory_ref.h"
#include "transport/base/status.h"
#include "transport/interface/packet.h"

namespace parley::transport {

class Endpoint;

// Number of a process, given by the layer above when it connects and carried in the handshake.
using PeerId = std::uint32_t;

// Where a transport delivers. All calls come from inside Transport::progress() (or close()) or
// Endpoint::take_arrived(), one at a time. RULE: a sink may call try_send() on any endpoint, but neither
// progress() nor close().
class PacketSink {
 public:
  // A link to `peer` is up, dialled by us or by it. The transport owns the endpoint until on_closed().
  virtual void on_link(PeerId peer, Endpoint& endpoint) noexcept = 0;
  // A connect() came to nothing; `why` says what was tried.
  virtual void on_unreachable(PeerId peer, base::Status status, std::string_view why) noexcept = 0;

  // A packet that has arrived whole. `payload` is valid during the call only.
  virtual void on_packet(Endpoint&, const PacketHeader&, std::span<const std::byte> payload) noexcept = 0;

  // A packet whose header is here and whose payload is not: where shall the payload go? The memory holds at
  // least header.payload_bytes, is not touched by the sink and stays valid until on_landed() or on_closed().
  virtual base::MemoryRef on_header(Endpoint&, const PacketHeader&) noexcept = 0;
  // The payload announced by on_header() is complete.
  virtual void on_landed(Endpoint&, const PacketHeader&) noexcept = 0;

  // A try_send() that answered `again` may succeed now.
  virtual void on_writable(Endpoint&) noexcept = 0;

  // The link is down: exactly once per endpoint, after its last packet and after all its completions. The
  // endpoint is destroyed when this returns.
  virtual void on_closed(Endpoint&, base::Status reason) noexcept = 0;

 protected:
  ~PacketSink() = default;
};

}  // namespace parley::transport
