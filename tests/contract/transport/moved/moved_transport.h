#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/contract/transport/moved/moved_endpoint.h"
#include "transport/interface/transport.h"

namespace parley::transport::contract {

// Another transport, of whose links each has a mover, which brings all large packets: so the suite tests
// movers as well. Thread-safety: as the transport inside.
class MovedTransport final : public Transport, private PacketSink {
 public:
  explicit MovedTransport(std::unique_ptr<Transport> inner, Lend lend = {})
      : lend_(std::move(lend)), inner_(std::move(inner)) {}

  [[nodiscard]] std::string_view name() const noexcept override { return inner_->name(); }
  base::Status start(PacketSink& sink) override;
  [[nodiscard]] std::string address() const override { return inner_->address(); }
  void connect(PeerId peer, std::string_view address, base::Deadline deadline) override {
    inner_->connect(peer, address, deadline);
  }
  void stop_accepting() noexcept override { inner_->stop_accepting(); }
  std::size_t progress(Endpoint* awaited) noexcept override;
  [[nodiscard]] bool unsent() const noexcept override;
  bool arm() noexcept override { return inner_->arm(); }
  void close() noexcept override;

 private:
  void on_link(PeerId peer, Endpoint& endpoint) noexcept override;
  void on_unreachable(PeerId peer, base::Status status, std::string_view why) noexcept override;
  void on_packet(Endpoint& endpoint, const PacketHeader& header,
                 std::span<const std::byte> payload) noexcept override;
  base::MemoryRef on_header(Endpoint& endpoint, const PacketHeader& header) noexcept override;
  void on_landed(Endpoint& endpoint, const PacketHeader& header) noexcept override;
  void on_writable(Endpoint& endpoint) noexcept override;
  void on_closed(Endpoint& endpoint, base::Status reason) noexcept override;

  const Lend lend_;
  PacketSink* sink_ = nullptr;
  std::vector<std::unique_ptr<MovedEndpoint>> links_;
  std::unique_ptr<Transport> inner_;  // ends first, and with it what it reads of the links
};

}  // namespace parley::transport::contract
