#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "transport/interface/endpoint.h"
#include "transport/interface/sink.h"

namespace parley::transport::contract {

// Memory of which a mover can be told; empty: it can be told of any.
using Lend = std::function<std::shared_ptr<std::byte>(std::size_t bytes)>;

// Ends the process with these words unless it holds: in a process of its own an assertion would be lost.
void insist(bool holds, const char* what) noexcept;

// A link whose large packets travel by the mover of another: announced there with a key, pulled by the peer,
// and acknowledged. Until then it takes nothing else, which keeps the order. Large is what the link below
// does not copy. A packet waits until the mover takes it: none goes by the link after all.
// Owned by a MovedTransport; thread-safety as there.
class MovedEndpoint final : public Endpoint {
 public:
  MovedEndpoint(Endpoint& inner, PacketSink& sink, const Lend& lend);

  base::Status try_send(const PacketHeader& header, const base::ConstMemoryRef& payload, Completion* done,
                        Urgency urgency) noexcept override;
  [[nodiscard]] std::size_t copy_limit_bytes() const noexcept override { return inner_.copy_limit_bytes(); }
  [[nodiscard]] bool drained() const noexcept override { return !leaving_ && inner_.drained(); }
  void close() noexcept override;

  // What the link below tells.
  void packet(const PacketHeader& header, std::span<const std::byte> payload);
  void writable();
  // REQUIRES: on_closed() of the sink follows, and this is destroyed.
  void end(base::Status reason);

  // Says what could not be said yet; returns the number of events.
  std::size_t work();
  [[nodiscard]] bool has_work() const noexcept { return owes_answer_ || (leaving_ && !leaving_->announced); }
  [[nodiscard]] Endpoint& inner() const noexcept { return inner_; }
  // Packets that a mover has brought here.
  [[nodiscard]] std::size_t pulled() const noexcept { return pulled_; }

 private:
  struct Leaving {
    PacketHeader header;
    base::ConstMemoryRef payload;
    Completion* done;
    std::shared_ptr<std::byte> lent = nullptr;
    std::optional<Exposure> exposure = std::nullopt;
    bool announced = false;
  };
  struct Arrival : Completion {
    MovedEndpoint* link = nullptr;
    std::optional<PacketHeader> header;  // while it is being pulled
  };

  void arrive(std::span<const std::byte> announcement);
  void landed(base::Status status);
  void acknowledged();
  void let_go(base::Status outcome);
  bool announce();
  bool answer();

  Endpoint& inner_;
  PacketSink& sink_;
  const Lend& lend_;
  std::optional<Leaving> leaving_;
  Arrival arrival_;
  std::size_t pulled_ = 0;
  bool owes_answer_ = false;  // to what has arrived
  bool refused_ = false;      // on_writable() is owed
  bool ended_ = false;
};

}  // namespace parley::transport::contract
