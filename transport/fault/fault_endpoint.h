#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "transport/fault/fault_dice.h"
#include "transport/interface/endpoint.h"
#include "transport/interface/sink.h"

namespace parley::transport::fault {

// An endpoint with faults in front of it: holds back what arrives, refuses what is sent. Deliveries leave it
// from deliver() only, in the order in which they came. Owned by a FaultTransport; thread-safety as there.
class FaultEndpoint final : public Endpoint {
 public:
  // What deliver() left behind.
  enum class Outcome : unsigned char {
    open,
    process_died,  // the plan's cut fell here and is for the whole transport
    ended,         // on_closed() has run: destroy this
  };

  FaultEndpoint(Endpoint& inner, FaultDice& dice) noexcept : inner_(&inner), dice_(dice) {}

  base::Status try_send(const PacketHeader& header, const base::ConstMemoryRef& payload, Completion* done,
                        Urgency urgency) noexcept override;
  [[nodiscard]] std::size_t copy_limit_bytes() const noexcept override { return copy_limit_bytes_; }
  [[nodiscard]] bool drained() const noexcept override { return inner_ == nullptr || inner_->drained(); }
  [[nodiscard]] std::optional<std::chrono::milliseconds> silence() noexcept override {
    return inner_ == nullptr ? std::nullopt : inner_->silence();
  }
  void close() noexcept override { break_off(base::Code::closed); }

  // What the inner transport tells of this link.
  void packet(const PacketHeader& header, std::span<const std::byte> payload);
  base::MemoryRef header(const PacketHeader& header);
  void landed();
  void writable() noexcept { inner_refuses_ = false; }
  void closed(base::Status reason) noexcept;

  // Once per progress(): passes on what is due, and adds to `events`.
  Outcome deliver(PacketSink& sink, std::size_t& events);
  // Ends the link: what is held is lost, the sink will see `reason`, the peer sees a death.
  void break_off(base::Status reason) noexcept;

  // Whether something becomes due by progress() alone, so that nobody may sleep.
  [[nodiscard]] bool is_holding() const noexcept;
  // nullptr once the inner link has ended.
  [[nodiscard]] Endpoint* inner() const noexcept { return inner_; }

 private:
  struct Held {
    PacketHeader header;
    std::vector<std::byte> payload;
    std::uint64_t due = 0;  // the call of progress() from which on it may be delivered
  };
  // The oldest packet while the sink has its header and not all of its payload.
  struct Landing {
    Held packet;
    base::MemoryRef target;
    std::size_t landed_bytes = 0;
    std::size_t piece_bytes = 0;
  };

  void hold(Held packet);
  std::optional<Outcome> deliver_oldest(PacketSink& sink);
  void begin_landing(PacketSink& sink, Held packet, std::size_t pieces);
  void land_piece(PacketSink& sink);
  void truncate(PacketSink& sink, Held packet);

  Endpoint* inner_;
  FaultDice& dice_;
  const std::size_t copy_limit_bytes_ = inner_->copy_limit_bytes();

  Held arriving_;  // between the inner on_header() and on_landed()
  std::deque<Held> held_;
  std::optional<Landing> landing_;

  bool took_any_ = false;            // packets
  bool owes_writable_ = false;       // the sink was told `again`
  bool inner_refuses_ = false;       // by the inner link, which will tell
  std::uint64_t refuses_until_ = 0;  // by us: the call of progress() from which on we no longer do

  bool broken_off_ = false;  // nothing more is sent or delivered
  base::Status reason_;      // of the end, once that is certain
};

}  // namespace parley::transport::fault
