#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "transport/interface/transport.h"

namespace parley::transport {

// A transport that does nothing but what a test adds to it.
class BareTransport : public Transport {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "bare"; }
  base::Status start(PacketSink& sink) override {
    sink_ = &sink;
    return {};
  }
  [[nodiscard]] std::string address() const override { return ""; }
  void connect(PeerId, std::string_view, base::Deadline) override {}
  void stop_accepting() noexcept override {}
  [[nodiscard]] bool unsent() const noexcept override { return false; }
  bool arm() noexcept override { return true; }
  void close() noexcept override {}

 protected:
  PacketSink* sink_ = nullptr;
};

// A link that takes whatever is sent, and loses it.
struct BareLink : Endpoint {
  base::Status try_send(const PacketHeader&, const base::ConstMemoryRef&, Completion*,
                        Urgency) noexcept override {
    return {};
  }
  [[nodiscard]] std::size_t copy_limit_bytes() const noexcept override { return 1 << 20; }
  [[nodiscard]] bool drained() const noexcept override { return true; }
  void close() noexcept override {}
};

}  // namespace parley::transport
