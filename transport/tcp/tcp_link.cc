#include "transport/tcp/tcp_link.h"

#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <utility>

namespace parley::transport {

using base::Code;
using base::Status;

namespace {
constexpr auto longest_pause = std::chrono::seconds(1);  // between two questions that belong together
}  // namespace

TcpLink::TcpLink(socket::Connection connection, PacketSink& sink, UnsentList& unsent)
    : connection_(std::move(connection)),
      sink_(sink),
      unsent_(unsent),
      sender_(connection_),
      receiver_(connection_) {
  // The kernel would count a peer that does not read as silent, too, even while its host answers every probe
  // of the closed window: silence() tells them apart.
  const int never = 0;
  setsockopt(descriptor(), IPPROTO_TCP, TCP_USER_TIMEOUT, &never, sizeof(never));
}

TcpLink::~TcpLink() {
  if (UnsentList::is_linked(*this)) UnsentList::remove(*this);
}

// In the kernel is not enough: a socket that is closed with unread bytes in it throws away what it has not
// yet delivered. What the peer's host has acknowledged stays readable there.
bool TcpLink::drained() const noexcept {
  if (ended() || broken()) return true;  // nothing more will leave
  int undelivered_bytes = 0;
  return sender_.empty() &&
         (ioctl(descriptor(), SIOCOUTQ, &undelivered_bytes) != 0 || undelivered_bytes == 0);
}

std::optional<std::chrono::milliseconds> TcpLink::silence() noexcept {
  tcp_info info{};
  socklen_t bytes = sizeof(info);
  if (ended() || getsockopt(descriptor(), IPPROTO_TCP, TCP_INFO, &info, &bytes) != 0)
    return std::chrono::milliseconds(0);
  const bool unacknowledged = info.tcpi_unacked != 0 || info.tcpi_probes != 0;
  const auto now = std::chrono::steady_clock::now();
  // What was not looked at for a while may have been acknowledged meanwhile, and something else sent.
  const bool is_continued = now - std::exchange(silence_asked_, now) <= longest_pause;
  if (!unacknowledged || !is_continued) unacknowledged_since_ = now;
  const auto lasts = std::chrono::duration_cast<std::chrono::milliseconds>(now - unacknowledged_since_);
  return std::min(lasts, std::chrono::milliseconds(info.tcpi_last_ack_recv));
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

Status TcpLink::try_send(const PacketHeader& header, const base::ConstMemoryRef& payload, Completion* done,
                         Urgency urgency) noexcept {
  if (ended()) return ended_;
  if (broken()) return Code::again;
  const Status status = sender_.post(header, payload, done, urgency == Urgency::now && !is_delivering_);
  has_answers_ = has_answers_ || is_delivering_;
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
  sender_.begin_pass();
  if (const Status status = sender_.write_out(); status.failed()) {
    note_broken(status);
    return 1;
  }
  std::size_t events = sender_.has_used_pass() ? 1 : 0;
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
  sender_.begin_pass();
  std::size_t events = 0;
  if (const Status status = read(events); status.failed() && !ended()) {
    ended_ = status;
    note_unsent();
    ++events;
  }
  return events;
}

// A pass. Small answers to what one system call has brought leave by one, too.
Status TcpLink::read(std::size_t& events) noexcept {
  receiver_.begin_pass();
  Status status;
  while (status.ok() && receiver_.goes_on()) {
    is_delivering_ = true;
    status = receiver_.receive(*this, sink_, events);
    is_delivering_ = false;
    send_answers();
  }
  return status;
}

void TcpLink::send_answers() noexcept {
  if (!std::exchange(has_answers_, false) || broken()) return;
  if (const Status status = sender_.write_staged(); status.failed()) note_broken(status);
}

std::size_t TcpLink::read_the_rest() noexcept {
  std::size_t events = 1;
  const Status status = read(events);
  if (status.ok() || ended()) return events;
  ended_ = status.code() == Code::protocol_violation ? status : broken_;
  return events;
}

void TcpLink::close() noexcept {
  if (ended()) return;
  send_answers();
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
