#pragma once

#include <optional>

#include "transport/interface/mover.h"
#include "transport/protocol/peer.h"
#include "transport/protocol/request.h"

// What is asked of movers for one request; see moving.cc.
namespace parley::transport {

// Shows the memory of a send to the peer's mover. Nothing: this message goes by the link.
std::optional<Exposure> expose(const Peer& peer, Request& request) noexcept;
std::optional<Exposure> expose_device(const Peer& peer, Request& request) noexcept;
// The memory of a receive, to the same mover. False: it cannot be shown.
bool expose_place(const Peer& peer, Request& request, std::size_t bytes) noexcept;
// The mover works for it no more. False: the peer has the message.
bool end_move(Request& request) noexcept;

}  // namespace parley::transport
