#pragma once

#include <string>

#include "transport/inproc/inproc_transport.h"

namespace toy {

using namespace parley;

// A transport of somebody else's: the in-process one under addresses of its own.
class ToyTransport final : public transport::Transport {
 public:
  ToyTransport(transport::InprocHub& hub, transport::PeerId self, base::Doorbell* doorbell)
      : inner_(hub, self, doorbell) {}

  [[nodiscard]] std::string_view name() const noexcept override { return "toy"; }
  base::Status start(transport::PacketSink& sink) override { return inner_.start(sink); }
  [[nodiscard]] std::string address() const override;
  void connect(transport::PeerId peer, std::string_view address, base::Deadline deadline) override;
  void stop_accepting() noexcept override;
  std::size_t progress(transport::Endpoint* awaited) noexcept override { return inner_.progress(awaited); }
  [[nodiscard]] bool unsent() const noexcept override { return inner_.unsent(); }
  bool arm() noexcept override { return inner_.arm(); }
  void close() noexcept override { inner_.close(); }

 private:
  transport::InprocTransport inner_;
};

}  // namespace toy
