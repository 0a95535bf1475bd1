#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "transport/base/doorbell.h"
#include "transport/inproc/inproc_endpoint.h"
#include "transport/inproc/inproc_hub.h"
#include "transport/interface/transport.h"

namespace parley::transport {

// Links between transports of one process, which may be driven by different threads, and to oneself. Packets
// are copied through bounded queues in memory; nothing is timed, so one thread that drives all transports
// gets the same course of events every time.
//
// A connect() to the own address makes one endpoint, whose packets come back to it, and one on_link().
// A connect() to an address of this hub comes to its end at once, so deadlines play no part.
class InprocTransport final : public Transport {
 public:
  // `self` is what the dialled see as their peer. `doorbell` (may be null) is rung from other threads for the
  // next event after arm(); ring() must not call Parley. Both references outlive this object.
  InprocTransport(InprocHub& hub, PeerId self, base::Doorbell* doorbell);
  InprocTransport(const InprocTransport&) = delete;
  InprocTransport& operator=(const InprocTransport&) = delete;
  // Without close(): peers see our death, and completions do not run.
  ~InprocTransport() override;

  [[nodiscard]] std::string_view name() const noexcept override { return "inproc"; }
  base::Status start(PacketSink& sink) override;
  [[nodiscard]] std::string address() const override;
  void connect(PeerId peer, std::string_view address, base::Deadline deadline) override;
  void stop_accepting() noexcept override;
  std::size_t progress(Endpoint* awaited) noexcept override;
  // What was taken lies in the lane, where the peer fetches it.
  [[nodiscard]] bool unsent() const noexcept override { return false; }
  bool arm() noexcept override;
  void close() noexcept override;

 private:
  // How a connect() ended; told to the sink in the next progress().
  struct Dialled {
    PeerId peer = 0;
    std::unique_ptr<InprocEndpoint> endpoint;  // null: unreachable
    base::Status status;
    std::string why;
  };

  Dialled dial(PeerId peer, std::string_view address);
  void link_up(std::unique_ptr<InprocEndpoint> endpoint, bool dialled) noexcept;
  std::size_t report_dialled() noexcept;
  std::size_t accept_offers() noexcept;
  void refuse_offers() noexcept;
  std::size_t poll_links(Endpoint* awaited) noexcept;

  InprocHub& hub_;
  const std::shared_ptr<InprocPort> port_;
  PacketSink* sink_ = nullptr;
  std::uint64_t number_ = 0;  // in the hub; 0 before start()
  bool closed_ = false;
  std::vector<Dialled> dialled_;
  std::vector<std::unique_ptr<InprocEndpoint>> links_;
  std::size_t first_ = 0;  // link at which the next round begins
};

}  // namespace parley::transport
