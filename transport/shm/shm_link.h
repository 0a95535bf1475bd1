#pragma once

#include <chrono>
#include <cstddef>
#include <optional>

#include "transport/base/intrusive_list.h"
#include "transport/interface/endpoint.h"
#include "transport/interface/sink.h"
#include "transport/shm/introduction.h"
#include "transport/shm/ring_reader.h"
#include "transport/shm/ring_writer.h"

namespace parley::transport {

struct ShmNeedyTag;

// Two rings, one in each direction, as an ordered link. Created and destroyed by ShmTransport.
class ShmLink final : public Endpoint, public base::ListHook<ShmNeedyTag> {
 public:
  using NeedyList = base::IntrusiveList<ShmLink, ShmNeedyTag>;

  // `needy`: the transport's list of links that wait for room or have ended; the link enters it by itself.
  ShmLink(shm::Acquaintance acquaintance, PacketSink& sink, NeedyList& needy);
  ~ShmLink() override;

  base::Status try_send(const PacketHeader& header, base::ConstMemoryRef payload, Completion* done,
                        Urgency urgency) noexcept override;
  [[nodiscard]] std::size_t copy_limit_bytes() const noexcept override { return writer_.largest_chunk(); }
  // What is in the ring is at the peer's host, and stays readable there when we have gone.
  [[nodiscard]] bool drained() const noexcept override { return ended() || done_ == nullptr; }
  // The peer's host is ours.
  [[nodiscard]] std::optional<std::chrono::milliseconds> silence() noexcept override {
    return std::chrono::milliseconds(0);
  }
  void close() noexcept override;

  // Whether receive() has something to do. Costs a look at one cache line.
  [[nodiscard]] bool has_next() const noexcept { return reader_.has_next(); }
  // Delivers what has arrived, within a budget; returns the number of events.
  std::size_t receive() noexcept;
  // Whether use_room() has something to do.
  [[nodiscard]] bool has_room() noexcept { return writer_.has_room(); }
  // Goes on with what waits for room; returns the number of events. The link leaves the list when nothing
  // waits any more.
  std::size_t use_room() noexcept;

  // Something is to be read on a descriptor that tells of the peer's end.
  void look_at_peer() noexcept;
  // Whether the peer has ended; what it had written before is still to be read.
  [[nodiscard]] bool peer_has_ended() const noexcept { return peer_has_ended_; }

  // Set once the link has ended: the transport reports and destroys it.
  [[nodiscard]] bool ended() const noexcept { return ended_.failed(); }
  [[nodiscard]] base::Status reason() const noexcept { return ended_; }
  // Completes what was under way; the last call before on_closed().
  void abandon() noexcept;

  // Both tell of the peer's end.
  [[nodiscard]] const base::UniqueFd& socket() const noexcept { return facts_.socket; }
  [[nodiscard]] const base::UniqueFd& end_of_life() const noexcept { return facts_.end_of_life; }

 private:
  void end(base::Status reason) noexcept;
  void need_room() noexcept;
  bool write_chunks() noexcept;
  base::Status deliver(const shm::Record& record) noexcept;
  base::Status land(std::span<const std::byte> chunk) noexcept;

  shm::Acquaintance facts_;
  shm::RingWriter writer_;
  shm::RingReader reader_;
  PacketSink& sink_;
  NeedyList& needy_;

  // A large packet that is leaving, in chunks; done_ is null when there is none.
  PacketHeader leaving_{};
  const std::byte* leaving_data_ = nullptr;
  std::size_t left_bytes_ = 0;  // of it
  Completion* done_ = nullptr;
  bool refused_ = false;  // a try_send answered `again`: on_writable() is owed

  // A large packet that is arriving.
  PacketHeader landing_{};
  std::byte* destination_ = nullptr;
  std::size_t missing_bytes_ = 0;  // of it; 0 when there is none

  bool peer_has_ended_ = false;
  base::Status ended_;
};

}  // namespace parley::transport
