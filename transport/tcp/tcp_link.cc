#include "transport/tcp/tcp_link.h"

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

void TcpLink::note_unsent() noexcept {
  if (!UnsentList::is_linked(*this)) unsent_.push_back(*this);
}

Status TcpLink::try_send(const PacketHeader& header, base::ConstMemoryRef payload, Completion* done,
                         Urgency urgency) noexcept {
  if (ended()) return ended_;
  const Status status = sender_.post(header, payload, done, urgency == Urgency::now);
  if (status.failed())
    ended_ = status;  // progress() sees it and reports
  else if (status.code() == Code::again)
    refused_ = true;
  if (!sender_.empty() || ended()) note_unsent();
  return status;
}

void TcpLink::flush() noexcept {
  if (ended()) return;
  if (const Status status = sender_.write_out(); status.failed()) ended_ = status;
}

std::size_t TcpLink::write_unsent() noexcept {
  if (ended()) return 0;
  if (const Status status = sender_.write_out(); status.failed()) {
    ended_ = status;
    return 1;
  }
  std::size_t events = 0;
  if (Completion* done = sender_.take_finished(); done != nullptr) {
    ++events;
    done->fn(*done, {});
  }
  // The completion may have posted the next large packet; what was refused before is told only of real room.
  if (!ended() && sender_.empty() && std::exchange(refused_, false)) {
    ++events;
    sink_.on_writable(*this);
  }
  if (!ended() && sender_.empty() && UnsentList::is_linked(*this)) UnsentList::remove(*this);
  return events;
}

std::size_t TcpLink::receive() noexcept {
  if (ended()) return 0;
  std::size_t events = 0;
  if (const Status status = receiver_.receive(*this, sink_, events); status.failed() && !ended()) {
    ended_ = status;
    note_unsent();
    ++events;
  }
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
