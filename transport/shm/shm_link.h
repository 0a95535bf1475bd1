#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "transport/base/intrusive_list.h"
#include "transport/interface/endpoint.h"
#include "transport/interface/sink.h"
#include "transport/shm/arena_exchange.h"
#include "transport/shm/handover.h"
#include "transport/shm/introduction.h"
#include "transport/shm/pull_mover.h"
#include "transport/shm/ring_reader.h"
#include "transport/shm/ring_writer.h"
#include "transport/shm/shm_neighbour.h"
#include "transport/shm/window.h"

namespace parley::transport {

class ShmLink;
struct ShmNeedyTag;
struct ShmQuietTag;

// Those of a transport's links, and of their movers, that want something of it. They enter by themselves.
struct ShmLinkLists {
  base::IntrusiveList<ShmLink, ShmNeedyTag> needy;  // wait for room, or have ended
  base::IntrusiveList<ShmLink, ShmQuietTag> quiet;  // have written, and not looked yet if the peer sleeps
  ShmPulling pulling;
};

// Two rings, one in each direction, as an ordered link; while there is much to send, with a window. Created
// and destroyed by ShmTransport.
class ShmLink final : public Endpoint,
                      public base::ListHook<ShmNeedyTag>,
                      public base::ListHook<ShmQuietTag>,
                      private shm::WindowTenant {
 public:
  using NeedyList = base::IntrusiveList<ShmLink, ShmNeedyTag>;
  using QuietList = base::IntrusiveList<ShmLink, ShmQuietTag>;

  // `arena`: of this process; may be null. All of them outlive the link.
  ShmLink(shm::Acquaintance acquaintance, PacketSink& sink, ShmLinkLists& lists, shm::WindowPool& windows,
          const shm::Arena* arena = nullptr);
  ~ShmLink() override;

  base::Status try_send(const PacketHeader& header, const base::ConstMemoryRef& payload, Completion* done,
                        Urgency urgency) noexcept override;
  std::size_t take_arrived() noexcept override {
    if (reader_.has_next()) return receive();
    if (looks_until_fetch_ != 0 && --looks_until_fetch_ == 0)
      writer_.fetch_for_chunk(last_area_, last_bytes_);
    return 0;
  }
  [[nodiscard]] std::size_t copy_limit_bytes() const noexcept override {
    return std::min<std::size_t>(smallest_piece, writer_.largest_chunk(shm::Area::own));
  }
  // What is in the ring is at the peer's host, and stays readable there when we have gone.
  [[nodiscard]] bool drained() const noexcept override { return ended() || done_ == nullptr; }
  // The peer's host is ours.
  [[nodiscard]] std::optional<std::chrono::milliseconds> silence() noexcept override {
    return std::chrono::milliseconds(0);
  }
  void close() noexcept override;

  // Wakes the peer if it sleeps. REQUIRES: the link is in the list of quiet ones, which it leaves, and
  // full_fence() since it was written to.
  void ring_after_fence() noexcept {
    QuietList::remove(*this);
    facts_.bell.ring_if_seen_asleep();
  }

  // Whether receive() has something to do. Costs a look at one cache line.
  [[nodiscard]] bool has_next() const noexcept { return reader_.has_next(); }
  // Delivers what has arrived, within a budget; returns the number of events.
  std::size_t receive() noexcept;
  // Whether use_room() has something to do.
  [[nodiscard]] bool has_room() noexcept;
  // Goes on with what waits for room; returns the number of events. The link leaves the list when nothing
  // waits any more.
  std::size_t use_room() noexcept;

  // Something is to be read on the socket or on end_of_life(): the peer shows a window, or has ended.
  void look_at_peer() noexcept;
  // Whether the peer has ended; what it had written before is still to be read.
  [[nodiscard]] bool peer_has_ended() const noexcept { return peer_has_ended_; }

  // Set once the link has ended: the transport reports and destroys it.
  [[nodiscard]] bool ended() const noexcept { return ended_.failed(); }
  [[nodiscard]] base::Status reason() const noexcept { return ended_; }
  // Completes what was under way; the last call before on_closed().
  void abandon() noexcept;

  // What each has mapped of the other's arena.
  [[nodiscard]] shm::ArenaExchange& arenas() noexcept { return arenas_; }
  // What each may read of the other's process.
  [[nodiscard]] shm::PeerMemory& peer_memory() noexcept { return peer_memory_; }
  // Both tell of the peer's end.
  [[nodiscard]] const base::UniqueFd& socket() const noexcept { return facts_.socket; }
  [[nodiscard]] const base::UniqueFd& end_of_life() const noexcept { return facts_.end_of_life; }

 private:
  // A larger packet travels in pieces, of so much at least, so that both sides copy at the same time.
  static constexpr std::uint32_t smallest_piece = 8 << 10;

  bool give_up_window() noexcept override;
  void leave_window() noexcept;
  shm::Area area_for(std::size_t payload_bytes) noexcept;
  [[nodiscard]] std::uint32_t piece_for(shm::Area area, std::size_t payload_bytes) noexcept;
  void note_answer() noexcept { unanswered_ -= unanswered_ != 0 ? 1 : 0; }
  [[nodiscard]] std::uint32_t largest_piece(shm::Area area) const noexcept;
  base::Status wait_for_room() noexcept;
  void ring_now() noexcept;
  void end(base::Status reason) noexcept;
  void need_room() noexcept;
  bool write_pieces() noexcept;
  [[nodiscard]] bool is_whole(const shm::Record& record) const noexcept;
  base::Status deliver(const shm::Record& record) noexcept;
  base::Status move(std::uint64_t place) noexcept;
  base::Status land(std::span<const std::byte> chunk) noexcept;

  shm::Acquaintance facts_;
  shm::RingWriter writer_;
  shm::RingReader reader_;
  PacketSink& sink_;
  ShmLinkLists& lists_;
  shm::WindowPool& windows_;
  shm::ArenaExchange arenas_;
  shm::PeerMemory peer_memory_;
  shm::ShmNeighbour neighbour_{arenas_, peer_memory_, facts_.bell};
  shm::Handover handover_;

  std::optional<std::size_t> window_;              // place of the one we have leased
  bool is_announced_ = false;                      // the peer has been told of it
  bool wants_window_ = false;                      // there was none to lease
  std::uint64_t busy_bytes_ = 0;                   // of larger packets, while there was no window
  std::uint64_t window_read_ = shm::most_windows;  // place of the peer's that it writes through

  // A large packet that is leaving, in pieces; done_ is null when there is none.
  const std::byte* leaving_data_ = nullptr;
  std::size_t left_bytes_ = 0;  // of it
  std::uint32_t piece_bytes_ = 0;
  shm::Area leaving_area_ = shm::Area::own;
  Completion* done_ = nullptr;
  bool refused_ = false;          // a try_send answered `again`: on_writable() is owed
  bool is_in_burst_ = false;      // something was sent, and nothing has come since
  std::uint32_t unanswered_ = 0;  // packets sent without one that came, since the reader had nothing to read

  // The last chunk that was the first of its packet and too long for a cell. Who waits for an answer fetches
  // the lines for another such one.
  shm::Area last_area_ = shm::Area::own;
  std::uint32_t last_bytes_ = 0;
  std::uint32_t looks_until_fetch_ = 0;  // 0: none is due
  bool has_begun_pulls_ = false;         // the last visit that found something
  bool came_alone_ = true;               // what was delivered last: then an answer may be what it waits for

  // A large packet that is arriving.
  PacketHeader landing_{};
  std::byte* destination_ = nullptr;
  std::size_t missing_bytes_ = 0;  // of it; 0 when there is none

  bool peer_has_ended_ = false;
  base::Status ended_;
};

}  // namespace parley::transport
