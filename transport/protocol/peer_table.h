#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "transport/protocol/peer.h"

namespace parley::transport {

// The records of all processes, by number. One is made when it is first asked for, so that a process that
// has to do with few others keeps little, in whatever number of them: room for all is set aside at once, but
// of memory that was never written to the kernel has given none.
//
// Thread-safety: none; the engine's lock.
class PeerTable {
 public:
  // Records begin with that limit. Throws std::bad_alloc.
  explicit PeerTable(std::uint32_t count, std::size_t eager_limit_bytes = default_eager_bytes)
      : eager_limit_bytes_(eager_limit_bytes),
        room_(std::allocator<Peer>().allocate(count)),
        is_made_(count) {}
  ~PeerTable() {
    for (Peer* peer = first_; peer != nullptr;) std::destroy_at(std::exchange(peer, peer->next_made));
    std::allocator<Peer>().deallocate(room_, is_made_.size());
  }
  PeerTable(const PeerTable&) = delete;
  PeerTable& operator=(const PeerTable&) = delete;

  // REQUIRES: below size().
  Peer& operator[](std::uint32_t number) noexcept { return is_made_[number] ? room_[number] : make(number); }
  [[nodiscard]] bool is_made(std::uint32_t number) const noexcept { return is_made_[number]; }
  [[nodiscard]] std::size_t size() const noexcept { return is_made_.size(); }
  // Of the records that are made.
  [[nodiscard]] std::size_t made() const noexcept { return made_; }

  // How the link to it has ended, if it has; makes no record.
  [[nodiscard]] base::Status reason(std::uint32_t number) const noexcept {
    return is_made_[number] ? room_[number].reason : end_;
  }

  // There will be no link to those whose records are not made yet, for this reason.
  void end_with(base::Status end) noexcept { end_ = end; }

  // Over the records that are made, in the order of their making; more may be made meanwhile.
  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = Peer;
    using difference_type = std::ptrdiff_t;
    using pointer = Peer*;
    using reference = Peer&;

    Iterator() noexcept = default;
    explicit Iterator(Peer* peer) noexcept : peer_(peer) {}
    Peer& operator*() const noexcept { return *peer_; }
    Iterator& operator++() noexcept {
      peer_ = peer_->next_made;
      return *this;
    }
    Iterator operator++(int) noexcept { return Iterator(std::exchange(peer_, peer_->next_made)); }
    bool operator==(const Iterator&) const noexcept = default;

   private:
    Peer* peer_ = nullptr;
  };
  [[nodiscard]] Iterator begin() const noexcept { return Iterator(first_); }
  [[nodiscard]] Iterator end() const noexcept { return Iterator(nullptr); }

 private:
  Peer& make(std::uint32_t number) noexcept;

  const std::size_t eager_limit_bytes_;
  base::Status end_;                   // failed: see end_with()
  Peer* const room_;                   // for size() of them
  std::vector<std::uint8_t> is_made_;  // bytes: asked for each message
  std::size_t made_ = 0;
  Peer* first_ = nullptr;
  Peer* last_ = nullptr;
};

}  // namespace parley::transport
