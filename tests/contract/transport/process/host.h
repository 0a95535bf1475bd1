#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "tests/contract/transport/process/channel.h"
#include "tests/contract/transport/transport_world.h"
#include "transport/interface/sink.h"

namespace parley::transport::contract {

// The inside of a process: a transport that does what the test asks, one request at a time, and tells the
// test all it tells its sink. It judges nothing. When the test is gone, the process ends at once.
class Host final : public PacketSink {
 public:
  Host(Channel& channel, Site& site, PeerId self)
      : channel_(channel), site_(site), transport_(site.make(self)) {}

  // Until the test asks for the end.
  void serve() { serve_until(Verb::end); }

 private:
  struct Link {
    std::uint64_t number = 0;
    Endpoint* endpoint = nullptr;  // nullptr once closed
    std::vector<std::byte> target;
  };
  struct Sent : Completion {
    Host* host = nullptr;
    std::uint64_t number = 0;  // of the completion in the test
    std::vector<std::byte> payload;
  };

  void on_link(PeerId peer, Endpoint& endpoint) noexcept override;
  void on_unreachable(PeerId peer, base::Status status, std::string_view why) noexcept override;
  void on_packet(Endpoint& endpoint, const PacketHeader& header,
                 std::span<const std::byte> payload) noexcept override;
  base::MemoryRef on_header(Endpoint& endpoint, const PacketHeader& header) noexcept override;
  void on_landed(Endpoint& endpoint, const PacketHeader& header) noexcept override;
  void on_writable(Endpoint& endpoint) noexcept override;
  void on_closed(Endpoint& endpoint, base::Status reason) noexcept override;
  static void on_done(Completion& done, base::Status status) noexcept;

  void serve_until(Verb last);
  Message execute(const Message& request);
  std::uint64_t ask_transport(const Message& request);
  std::uint64_t ask_site(const Message& request);
  base::Status try_send(const Message& request);
  void tell(const Message& event);
  Endpoint* endpoint_of(const Message& request);

  Channel& channel_;
  Site& site_;
  std::deque<Link> links_;  // all ever: number n at n - 1
  // Those taken `in_progress`, all ever, so that a second completion is told and seen by the test.
  std::deque<std::unique_ptr<Sent>> sent_;
  std::unique_ptr<Transport> transport_;
};

}  // namespace parley::transport::contract
