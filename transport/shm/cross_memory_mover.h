#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "transport/base/deadline.h"
#include "transport/base/intrusive_list.h"
#include "transport/base/slab_pool.h"
#include "transport/interface/mover.h"
#include "transport/shm/cross_memory.h"
#include "transport/shm/offer_board.h"
#include "transport/shm/segment.h"

namespace parley::transport {

namespace shm {

// What two processes have found out about it, and what they share for it.
struct CrossMemoryTerms {
  std::shared_ptr<const CrossMemory> own;  // null: we are told not to
  pid_t process = 0;                       // the peer
  CrossRead we_read = CrossRead::unwanted;
  CrossRead peer_reads = CrossRead::unwanted;
  Segment own_board;  // of our offers; unless one of us is told not to, both are there
  Segment peer_board;
};

}  // namespace shm

struct PullingTag;

// The receiver reads out of the sender's buffer, in one copy and without the sender's help; see offer_board.h
// for how an offer is taken back. One for each link; there is one for a pair that cannot do it, too, which
// says why. Thread-safety: none; the engine's lock.
class CrossMemoryMover final : public Mover, public base::ListHook<PullingTag> {
 public:
  using PullingList = base::IntrusiveList<CrossMemoryMover, PullingTag>;

  // `socket` and `end_of_life` (or -1) become readable when the peer ends, and live as long as this.
  // `pulling`: the list of those that have something to read; this enters and leaves it by itself.
  CrossMemoryMover(shm::CrossMemoryTerms terms, int socket, int end_of_life, PullingList& pulling);
  ~CrossMemoryMover() override;

  [[nodiscard]] std::string_view name() const noexcept override { return "cma"; }
  [[nodiscard]] std::string describe() const override;
  std::optional<Exposure> expose(base::ConstMemoryRef memory) noexcept override;
  bool withdraw(std::uint64_t handle) noexcept override;
  void note_pulled(std::uint64_t handle) noexcept override;
  base::Status pull(const RemoteKey& key, base::MemoryRef into, Completion& done) noexcept override;
  void stop(Completion& done) noexcept override;

  // The next piece of the oldest pull. REQUIRES: in the list.
  void pull_a_piece() noexcept;

 private:
  struct PullTag;
  struct Pull : base::ListHook<PullTag> {
    Pull(std::uint64_t from, shm::OfferToken token, base::MemoryRef to, Completion& completion)
        : address(from), offer(token), into(to), done(&completion) {}
    std::uint64_t address;
    shm::OfferToken offer;
    base::MemoryRef into;
    Completion* done;
  };

  base::Status read_a_piece(Pull& pull) noexcept;
  base::Status finish(const Pull& pull) noexcept;
  base::Status explain(const Pull& pull, base::Status failure) noexcept;
  [[nodiscard]] bool peer_lives() const noexcept;

  shm::CrossMemoryTerms terms_;
  const int socket_;
  const int end_of_life_;
  PullingList& pulling_;
  std::optional<shm::OwnOffers> own_offers_;
  std::optional<shm::PeerOffers> peer_offers_;
  base::Clock::time_point lived_at_{};  // when the peer was last seen to live
  void drop(Pull& pull) noexcept;

  base::SlabPool<Pull, 16> pool_;
  // Oldest first. While there are any, this object is in `pulling_`.
  base::IntrusiveList<Pull, PullTag> pulls_;
};

}  // namespace parley::transport
