#pragma once

#include <memory>
#include <string>
#include <vector>

#include "transport/fault/fault_dice.h"
#include "transport/fault/fault_endpoint.h"
#include "transport/fault/fault_plan.h"
#include "transport/interface/transport.h"

namespace parley::transport::fault {

// A transport with faults: decorates another one, whose links arrive here late, in pieces, refused, or cut
// off. Delay, refusal and splitting stay within the contract of transport/interface, which the contract suite
// checks; the cuts are failures that the layer above must report.
// Thread-safety: as the transport inside.
class FaultTransport final : public Transport, private PacketSink {
 public:
  FaultTransport(std::unique_ptr<Transport> inner, const FaultPlan& plan);

  [[nodiscard]] std::string_view name() const noexcept override { return name_; }
  base::Status start(PacketSink& sink) override;
  [[nodiscard]] std::string address() const override { return inner_->address(); }
  void connect(PeerId peer, std::string_view address, base::Deadline deadline) override;
  void stop_accepting() noexcept override { inner_->stop_accepting(); }
  std::size_t progress(Endpoint* awaited) noexcept override;
  [[nodiscard]] bool unsent() const noexcept override { return inner_->unsent(); }
  bool arm() noexcept override;
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

  std::size_t deliver_held();
  void end_all(base::Status reason) noexcept;

  FaultDice dice_;
  std::vector<std::unique_ptr<FaultEndpoint>> links_;
  std::unique_ptr<Transport> inner_;
  const std::string name_;
  PacketSink* sink_ = nullptr;
};

}  // namespace parley::transport::fault
