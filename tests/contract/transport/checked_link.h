#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "transport/interface/endpoint.h"
#include "transport/interface/sink.h"

namespace parley::transport::contract {

// One end of a link, with everything that the contract of endpoint.h and sink.h lets an observer check. A
// breach is a test failure at once. Sends numbered packets of known content, expects the same of its peer.
// Thread-safety: none.
class CheckedLink {
 public:
  CheckedLink(PeerId self, PeerId peer, Endpoint& endpoint)
      : self_(self), peer_(peer), endpoint_(&endpoint) {}
  CheckedLink(const CheckedLink&) = delete;
  CheckedLink& operator=(const CheckedLink&) = delete;

  // Queues packets of these sizes and sends what the link takes.
  void send(const std::vector<std::size_t>& sizes, Endpoint::Urgency urgency = Endpoint::Urgency::now);
  // Sends queued packets until the link refuses. After a refusal it waits for on_writable(): nothing is tried
  // before. Returns how many were taken.
  std::size_t pump();
  // One packet past the queue, which must be empty.
  base::Status try_send(std::size_t bytes, Endpoint::Urgency urgency = Endpoint::Urgency::now);
  void close();

  // The events of the sink.
  void packet(const PacketHeader& header, std::span<const std::byte> payload);
  base::MemoryRef header(const PacketHeader& header);
  void landed(const PacketHeader& header);
  void writable();
  void closed(base::Status reason);

  [[nodiscard]] PeerId peer() const { return peer_; }
  // nullptr once closed.
  [[nodiscard]] Endpoint* endpoint() const { return endpoint_; }
  [[nodiscard]] bool is_open() const { return endpoint_ != nullptr; }
  [[nodiscard]] std::uint64_t taken() const { return taken_; }
  [[nodiscard]] std::uint64_t received() const { return received_; }
  [[nodiscard]] bool is_refused() const { return refused_; }
  [[nodiscard]] std::size_t refusals() const { return refusals_; }
  [[nodiscard]] std::size_t landings() const { return landings_; }
  // Between on_header() and on_landed().
  [[nodiscard]] bool is_landing() const { return landing_.has_value(); }
  // Everything queued was taken, and every completion has run.
  [[nodiscard]] bool is_all_sent() const { return queue_.empty() && unfinished_ == 0; }
  [[nodiscard]] std::size_t unfinished() const { return unfinished_; }
  [[nodiscard]] std::size_t completed(base::Code code) const;
  // After closed().
  [[nodiscard]] base::Status reason() const { return reason_; }

  // Run inside the delivery: after each received packet; at the end of on_header().
  std::function<void(CheckedLink&)> on_received;
  std::function<void(CheckedLink&)> on_announced;

 private:
  // A packet that was taken `in_progress`.
  struct Sent : Completion {
    CheckedLink* link = nullptr;
    std::vector<std::byte> payload;
    std::optional<base::Status> outcome;
  };
  struct Queued {
    std::size_t bytes;
    Endpoint::Urgency urgency;
  };

  static void on_done(Completion& done, base::Status status) noexcept;
  void check_answer(base::Status answer, std::size_t bytes);
  void expect_header(const PacketHeader& header) const;
  void expect_payload(std::span<const std::byte> payload) const;
  void arrived();

  const PeerId self_;
  const PeerId peer_;
  Endpoint* endpoint_;

  std::deque<Queued> queue_;
  std::deque<std::unique_ptr<Sent>> sent_;  // all ever, so that a second completion is noticed
  std::uint64_t taken_ = 0;
  std::size_t unfinished_ = 0;
  std::size_t refusals_ = 0;
  bool refused_ = false;  // on_writable() is owed
  bool sending_ = false;  // inside try_send()
  bool closing_ = false;  // close() was called

  std::uint64_t received_ = 0;
  std::size_t landings_ = 0;
  std::optional<PacketHeader> landing_;
  std::vector<std::byte> target_;
  base::Status reason_;
};

}  // namespace parley::transport::contract
