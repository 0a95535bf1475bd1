#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "transport/base/intrusive_list.h"
#include "transport/base/slab_pool.h"
#include "transport/interface/mover.h"
#include "transport/shm/arena_exchange.h"
#include "transport/shm/offer_board.h"
#include "transport/shm/peer_memory.h"

namespace parley::transport {

class PullMover;
struct PullingTag;

// Those of a transport's movers that have something to read. They enter and leave by themselves.
struct ShmPulling {
  base::IntrusiveList<PullMover, PullingTag> movers;
  std::uint64_t begun_bytes = 0;  // of all pulls so far of which a turn holds several
};

// The receiver reads out of the sender's buffer, in one copy and without the sender's help: in its own
// mapping of the sender's arena, without a system call, or else by a cross-memory copy. See offer_board.h for
// how an offer is taken back. One for each link; it is there, and says why, for a pair that can do neither,
// too. Thread-safety: none; the engine's lock.
class PullMover final : public Mover, public OfferLedger, public base::ListHook<PullingTag> {
 public:
  using PullingList = base::IntrusiveList<PullMover, PullingTag>;

  // Some 25 us: what others wait for at most between two turns, and long beside what a call costs.
  static constexpr std::size_t turn_bytes = 256 << 10;

  // `end_of_life` (or -1) becomes readable when the peer ends. All of them live as long as this.
  PullMover(shm::PeerMemory& memory, shm::Boards boards, shm::ArenaExchange& arenas, int end_of_life,
            ShmPulling& pulling);
  ~PullMover() override;

  [[nodiscard]] std::string_view name() const noexcept override { return "pull"; }
  [[nodiscard]] std::string describe() const override;
  std::optional<Exposure> expose(base::ConstMemoryRef memory) noexcept override;
  [[nodiscard]] bool shows(base::ConstMemoryRef memory) const noexcept override {
    return arenas_.holds(memory);
  }
  bool withdraw(std::uint64_t handle) noexcept override;
  void note_pulled(std::uint64_t handle) noexcept override;
  base::Status pull(const RemoteKey& key, base::MemoryRef into, Completion& done) noexcept override;
  // What is mapped is copied once, by the core that wants it.
  [[nodiscard]] bool outruns_links(const RemoteKey& key) const noexcept override;
  void stop(Completion& done) noexcept override;

  // OfferLedger: offers of others than this mover stand on the same board.
  std::optional<OfferTicket> open_offer() noexcept override { return own_offers_.open(); }
  bool withdraw_offer(OfferTicket ticket) noexcept override { return own_offers_.withdraw(ticket); }
  void note_offer_taken(OfferTicket ticket) noexcept override { own_offers_.note_taken(ticket); }
  bool take_offer(OfferTicket ticket) noexcept override {
    return shm::PeerOffers::is_valid(ticket) && peer_offers_.take(ticket);
  }
  std::shared_ptr<std::byte> own_words() noexcept override {
    return {boards_, boards_->own.data() + shm::board_bytes};
  }
  std::shared_ptr<std::byte> peer_words() noexcept override {
    return {boards_, boards_->peer.data() + shm::board_bytes};
  }
  base::UniqueFd end_of_peer() noexcept override;

  // A piece of the oldest pull, or several that are shorter. REQUIRES: in the list.
  void take_turn() noexcept;

 private:
  struct PullTag;
  struct Pull : base::ListHook<PullTag> {
    Pull(const std::byte* seen, std::uint64_t at, shm::OfferToken token, base::MemoryRef to,
         Completion& completion)
        : mapped(seen), address(at), offer(token), into(to), done(&completion) {}
    const std::byte* mapped;  // in the peer's arena; null: it is not there
    std::uint64_t address;    // in the peer's process, then
    shm::OfferToken offer;
    base::MemoryRef into;
    Completion* done;
  };

  base::Status read(Pull& pull, std::size_t bytes) noexcept;
  base::Status copy_across(Pull& pull, std::size_t bytes) noexcept;
  base::Status finish(const Pull& pull) noexcept;
  base::Status explain(const Pull& pull, base::Status failure) noexcept;
  void drop(Pull& pull) noexcept;

  shm::PeerMemory& memory_;
  const std::shared_ptr<const shm::Boards> boards_;
  shm::ArenaExchange& arenas_;
  const int end_of_life_;
  ShmPulling& pulling_;
  shm::OwnOffers own_offers_;
  shm::PeerOffers peer_offers_;
  base::SlabPool<Pull, 16> pool_;
  // Oldest first. While there are any, this object is in the list.
  base::IntrusiveList<Pull, PullTag> pulls_;
};

}  // namespace parley::transport
