#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "transport/interface/device_mover.h"
#include "transport/interface/endpoint.h"
#include "transport/interface/packet.h"
#include "transport/interface/sink.h"
#include "transport/protocol/peer.h"
#include "transport/protocol/request.h"

// What is done with a request's memory on a device; see device.cc.
namespace parley::transport {

// Called for each link that comes up: the mover of device memory beside it, or null. It outlives the link.
using MakeDeviceMover = std::function<DeviceMover*(PeerId, Endpoint&)>;

// Copies a payload there, unless `status` has failed already; else `status` is what came of it.
void write_to_device(Request& request, std::size_t offset, std::span<const std::byte> payload,
                     base::Status& status) noexcept;
// The payload of a packet has landed: in peer.landing_place, else in `buffer`.
void landed_for_device(Peer& peer, Request& request, const PacketHeader& header,
                       const std::byte* buffer) noexcept;
// Takes back a send, or the place of a receive, that was exposed. False: the peer was first, and is about to
// say so.
bool recall_from_device(Request& request) noexcept;
// Before the request is freed.
void release_device(Request& request) noexcept;

}  // namespace parley::transport
