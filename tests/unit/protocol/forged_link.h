#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <vector>

#include "transport/interface/endpoint.h"

namespace parley::transport {

// A link whose other end is the test.
class ForgedLink final : public Endpoint {
 public:
  base::Status try_send(const PacketHeader& header, const base::ConstMemoryRef&, Completion*,
                        Urgency urgency) noexcept override {
    if (refuses) return base::Code::again;
    sent.push_back(header);
    held_back = urgency == Urgency::batch;
    return {};
  }
  [[nodiscard]] std::size_t copy_limit_bytes() const noexcept override { return 8192; }
  [[nodiscard]] bool drained() const noexcept override { return true; }
  [[nodiscard]] std::optional<std::chrono::milliseconds> silence() noexcept override { return silent_for; }
  void close() noexcept override { closed = true; }

  std::chrono::milliseconds silent_for{0};
  bool refuses = false;
  bool closed = false;
  bool held_back = false;  // the last packet may be
  std::vector<PacketHeader> sent;
};

}  // namespace parley::transport
