#include "transport/shm/handover_message.h"

#include <new>
#include <span>
#include <utility>

#include "transport/base/log.h"
#include "transport/shm/local_socket.h"

namespace parley::transport::shm {

using base::Code;

base::Result<Segment> attach_shown(base::UniqueFd memory, std::uint64_t bytes) noexcept {
  try {
    auto attached = Segment::attach(std::move(memory), bytes);
    if (attached) {
      attached.value().close_fd();
      return attached;
    }
    if (attached.failure().status.code() != Code::exhausted)
      return base::Failure{Code::protocol_violation, {}};
  } catch (const std::bad_alloc&) {
  }
  PARLEY_LOG(info, "shm", "no room to map ", bytes, " bytes that the peer shows");
  return base::Failure{Code::exhausted, {}};
}

void answer(const base::UniqueFd& socket, HandoverMessage offer, HandoverMessage::Kind kind) noexcept {
  offer.kind = kind;
  (void)send_message(socket, std::as_bytes(std::span(&offer, 1)), {});
}

}  // namespace parley::transport::shm
