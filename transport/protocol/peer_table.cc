#include "transport/protocol/peer_table.h"

#include <string>

namespace parley::transport {

// Cannot fail: a record begins without anything of the heap; its title is short enough to be kept in place.
Peer& PeerTable::make(std::uint32_t number) noexcept {
  Peer& peer = *std::construct_at(room_ + number);
  peer.number = peer.culprit = number;
  peer.title = "rank " + std::to_string(number);
  peer.eager_limit_bytes = eager_limit_bytes_;
  if (end_.failed()) {
    peer.state = PeerState::down;
    peer.reason = end_;
  }
  is_made_[number] = 1;
  ++made_;
  (last_ == nullptr ? first_ : last_->next_made) = &peer;
  last_ = &peer;
  return peer;
}

}  // namespace parley::transport
