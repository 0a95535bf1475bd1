#include "transport/tcp/tcp_link.h"

#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <utility>

namespace parley::transport {

using base::Code;
using base::Status;

TcpLink::TcpLink(base::UniqueFd socket, PacketSink& sink, UnsentList& unsent)
    : socket_(std::move(socket)),
      sink_(sink),
      unsent_(unsent),
      sender_(socket_.get()),
      receiver_(socket_.get()) {}

TcpLink::~TcpLink() {
  if (UnsentList::is_linked(*this)) UnsentList::remove(*this);
}

// In the kernel is not enough: a socket that is closed with unread bytes in it throws away what it has not
// yet delivered. What the peer's host has acknowledged stays readable there.
bool TcpLink::drained() const noexcept {
  if (ended() || broken()) return true;  // nothing more will leave
  int undelivered_bytes = 0;
  return sender_.empty() &&
         (ioctl(socket_.get(), SIOCOUTQ, &undelivered_bytes) != 0 || undelivered_bytes == 0);
}

void TcpLink::note_unsent() noexcept {
  if (!UnsentList::is_linked(*this)) unsent_.push_back(*this);
}

// The link ends when all has been read: not here, where the sink would learn that the peer has gone before it
// learns why.
void TcpLink::note_broken(Status status) noexcept {
  broken_ = status;
  note_unsent();
}

Status TcpLink::try_send(const PacketHeader& header, base::ConstMemoryRef payload, Completion* done,
                         Urgency urgency) noexcept {
  if (ended()) return ended_;
  if (broken()) return Code::again;
  const Status status = sender_.post(header, payload, done, urgency == Urgency::now);
  if (status.failed()) {
    note_broken(status);
    return Code::again;
  }
  if (status.code() == Code::again) refused_ = true;
  if (!sender_.empty()) note_unsent();
  return status;
}

std::size_t TcpLink::write_unsent() noexcept {
  if (ended()) return 0;
  if (broken()) return read_the_rest();
  if (const Status status = sender_.write_out(); status.failed()) {
    note_broken(status);
    return 1;
  }
  std::size_t events = 0;
  if (Completion* done = sender_.take_finished(); done != nullptr) {
    ++events;
    done->fn(*done, {});
  }
  // The completion may have posted the next large packet; what was refused before is told only of real room.
  const auto idle = [this] { return !ended() && !broken() && sender_.empty(); };
  if (idle() && std::exchange(refused_, false)) {
    ++events;
    sink_.on_writable(*this);
  }
  if (idle() && UnsentList::is_linked(*this)) UnsentList::remove(*this);
  return events;
}

std::size_t TcpLink::receive() noexcept {
  if (ended() || broken()) return 0;
  std::size_t events = 0;
  if (const Status status = receiver_.receive(*this, sink_, events); status.failed() && !ended()) {
    ended_ = status;
    note_unsent();
    ++events;
  }
  return events;
}

std::size_t TcpLink::read_the_rest() noexcept {
  std::size_t events = 1;
  const Status status = receiver_.receive(*this, sink_, events);
  if (status.ok() || ended()) return events;
  ended_ = status.code() == Code::protocol_violation ? status : broken_;
  return events;
}

void TcpLink::close() noexcept {
  if (ended()) return;
  ended_ = Code::closed;
  receiver_.stop();
  note_unsent();
  abandon();
}

void TcpLink::abandon() noexcept {
  receiver_.stop();
  if (Completion* done = sender_.take_abandoned(); done != nullptr) done->fn(*done, Code::cancelled);
}

}  // namespace parley::transport
