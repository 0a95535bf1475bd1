#pragma once

#include <cstdint>
#include <optional>

#include "rendezvous/store_frame.h"
#include "rendezvous/store_request.h"
#include "transport/base/wire.h"

namespace parley::rendezvous {

// Requests and replies as frames. One layout serves all commands; see README.md.

base::Bytes encode_request(std::uint64_t id, const Request& request);
// Views into `frame`. Nothing when the frame is no well-formed request.
std::optional<Request> decode_request(const Frame& frame);

base::Bytes encode_reply(std::uint64_t id, const Reply& reply);
// Nothing when the frame is no reply that fits `request`.
std::optional<Reply> decode_reply(const Frame& frame, const Request& request);

}  // namespace parley::rendezvous
