#include "transport/shm/introduction.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <type_traits>
#include <utility>

#include "transport/base/log.h"

namespace parley::transport::shm {

using base::Code;
using base::Status;

namespace {

constexpr std::array<char, 8> magic{'\x89', 'P', 'A', 'R', 'L', 'E', 'Y', 'S'};
constexpr std::uint16_t version = 3;

// On the wire.
enum Reason : std::uint8_t {
  none = 0,
  other_version = 1,
  other_process = 2,
  other_job = 3,
  no_memory = 4,
};

std::string words_for(std::uint8_t reason) {
  switch (reason) {
    case other_version: return "the other process uses another release of Parley";
    case other_process: return "the address is that of another process";
    case other_job: return "the address is that of another job";
    case no_memory: return "the other process is short of memory or descriptors";
    default: return "the other process refuses, for no reason that we know";
  }
}

// The one who is called accepts each call.
constexpr auto between_calls = std::chrono::milliseconds(20);

constexpr std::size_t ring_place = 0, bell_page_place = 1, bell_event_place = 2, board_place = 3;

}  // namespace

struct Introduction::Message {
  std::array<char, 8> magic{};
  std::uint16_t version = 0;
  std::uint8_t refusal = 0;
  std::uint8_t unused = 0;
  PeerId from = 0;
  PeerId to = 0;
  socket::JobId job{};
  RingShape shape{};
  // Cross-memory copies. No address: not wanted.
  CrossRead result = CrossRead::unwanted;  // of our reading the other's word; not known in the first message
  std::array<std::uint8_t, 3> zero{};
  std::uint64_t word_address = 0;
  std::uint64_t word = 0;
};

Introduction Introduction::dial(const Self& self, const OwnBell& own_bell, PeerId peer, std::string name,
                                base::Deadline deadline) {
  Introduction made(self, own_bell, deadline);
  made.is_dial_ = true;
  made.state_ = State::connecting;
  made.name_ = std::move(name);
  made.acquaintance_.peer = peer;
  return made;
}

Introduction Introduction::answer(const Self& self, const OwnBell& own_bell, base::UniqueFd socket,
                                  base::Deadline deadline) {
  Introduction made(self, own_bell, deadline);
  made.acquaintance_.socket = std::move(socket);
  return made;
}

Status Introduction::fail(Status status, std::string why) {
  why_ = std::move(why);
  return status;
}

Status Introduction::step() {
  Status status = Code::again;
  if (state_ == State::connecting) status = connect();
  if (state_ == State::listening) status = listen();
  if (state_ == State::answering) status = introduce_ourselves(State::confirming);
  if (state_ == State::confirming) return await_confirmation();
  if (status.code() == Code::again && deadline_.expired()) return fail(Code::timed_out, awaited_in_vain());
  return status;
}

const char* Introduction::awaited_in_vain() const noexcept {
  const bool has_memory_to_show = acquaintance_.out.data() != nullptr;
  if (state_ == State::answering || (state_ == State::connecting && has_memory_to_show))
    return "this user has too many descriptors on their way";
  return is_dial_ ? "no answer on its local socket" : "it has not introduced itself";
}

// Who cannot speak yet hangs up: the other side would take it for a stranger that says nothing.
Status Introduction::connect() {
  if (!retry_.expired()) return Code::again;
  auto connected = connect_locally(name_);
  if (!connected) return fail(connected.failure().status, connected.failure().message);
  acquaintance_.socket = std::move(connected).value();
  if (const Status status = look_at_partner(); !status.ok()) return status;
  const Status status = introduce_ourselves(State::listening);
  if (status.code() == Code::again && state_ == State::connecting) {
    acquaintance_.socket.reset();
    retry_ = base::Deadline::after(between_calls);
  }
  return status;
}

// Of a caller who has spoken, and not before: a pidfd for each that is silent would be one too many. Its user
// was looked at when it was accepted; whom we dial is known only now.
Status Introduction::look_at_partner() {
  auto partner = partner_of(acquaintance_.socket);
  if (!partner) return fail(partner.failure().status, partner.failure().message);
  if (partner.value().user != ::geteuid())
    return fail(Code::refused,
                base::concat("its process is one of user ", partner.value().user, ", ours of ", ::geteuid()));
  acquaintance_.end_of_life = std::move(partner.value().end_of_life);
  acquaintance_.cross_memory.process = partner.value().process;
  return {};
}

Status Introduction::make_memory() {
  auto ring = Segment::create(ring_bytes(self_.shape));
  if (!ring) return fail(ring.failure().status, ring.failure().message);
  auto board = Segment::create(board_segment_bytes);
  if (!board) return fail(board.failure().status, board.failure().message);
  acquaintance_.out = std::move(ring).value();
  acquaintance_.out_shape = self_.shape;
  acquaintance_.boards.own = std::move(board).value();
  return {};
}

// `again`, and `next` is the state; or the state is as before, for too many descriptors of this user's are on
// their way: what was made is kept.
Status Introduction::introduce_ourselves(State next) {
  Segment& ring = acquaintance_.out;
  Segment& board = acquaintance_.boards.own;
  if (ring.data() == nullptr)
    if (const Status made = make_memory(); !made.ok()) return made;
  Message message;
  message.magic = magic;
  message.version = version;
  message.from = self_.number;
  message.to = acquaintance_.peer;
  message.job = self_.job;
  message.shape = self_.shape;
  if (self_.cross_memory != nullptr) {
    message.result = acquaintance_.cross_memory.we_read;
    message.word_address = self_.cross_memory->word_address();
    message.word = self_.cross_memory->word();
    acquaintance_.cross_memory.own = self_.cross_memory;
  }
  const std::array<int, most_handed_over> descriptors{ring.fd(), own_bell_->page(), own_bell_->event(),
                                                      board.fd()};
  const Status sent = send_message(acquaintance_.socket, std::as_bytes(std::span(&message, 1)), descriptors);
  if (sent.code() == Code::again) return sent;
  if (!sent.ok()) return fail(sent, "cannot be told of us");
  ring.close_fd();
  board.close_fd();
  state_ = next;
  return Code::again;
}

Status Introduction::refuse(std::uint8_t reason) {
  Message message;
  message.magic = magic;
  message.version = version;
  message.refusal = reason;
  (void)send_message(acquaintance_.socket, std::as_bytes(std::span(&message, 1)), {});
  return Code::refused;
}

std::uint8_t Introduction::judge(const Message& message) const noexcept {
  if (message.version != version) return other_version;
  if (message.job != self_.job) return other_job;
  const bool is_partner = !is_dial_ || message.from == acquaintance_.peer;
  return is_partner && message.to == self_.number ? none : other_process;
}

// The last word. Whether it arrives is not for us to see: if the other side is gone, the link ends like any
// other.
Status Introduction::confirm() {
  Message message;
  message.magic = magic;
  message.version = version;
  message.result = acquaintance_.cross_memory.we_read;
  const Status sent = send_message(acquaintance_.socket, std::as_bytes(std::span(&message, 1)), {});
  return sent.ok() ? sent : fail(sent, "the other process has hung up");
}

Status Introduction::await_confirmation() {
  Message message;
  HandedOver none_expected;
  const Status got = receive(message, none_expected);
  if (!got.ok()) return got;
  // Whoever follows the protocol has refused our answer instead.
  if (message.version != version) return fail(Code::protocol_violation, words_for(other_version));
  learn_result(message);
  return {};
}

// Whether the other side can read our memory.
void Introduction::learn_result(const Message& message) noexcept {
  CrossMemoryTerms& terms = acquaintance_.cross_memory;
  const bool both_want = terms.we_read != CrossRead::unwanted;
  if (both_want) terms.peer_reads = message.result;
}

Status Introduction::receive(Message& message, HandedOver& descriptors) {
  const Status got =
      receive_message(acquaintance_.socket, std::as_writable_bytes(std::span(&message, 1)), descriptors);
  if (got.code() == Code::again) return got;
  if (!got.ok()) return fail(got, "the other process has hung up");
  if (message.magic != magic)
    return fail(Code::protocol_violation, "the other side does not speak our protocol");
  if (message.refusal != none) return fail(Code::refused, words_for(message.refusal));
  return {};
}

Status Introduction::listen() {
  Message message;
  HandedOver descriptors;
  if (const Status got = receive(message, descriptors); !got.ok()) return got;
  if (!is_dial_) {
    if (const Status status = look_at_partner(); !status.ok()) return status;
    acquaintance_.peer = message.from;
  }
  if (const std::uint8_t reason = judge(message); reason != none) {
    why_ = words_for(reason);
    return is_dial_ ? Status(Code::refused) : refuse(reason);
  }
  if (const Status status = accept(message, descriptors); !status.ok()) return status;
  if (is_dial_) return confirm();
  state_ = State::answering;
  return Code::again;
}

Status Introduction::accept(const Message& message, HandedOver& descriptors) {
  if (!is_valid(message.shape)) return fail(Code::protocol_violation, "its ring has an impossible shape");
  auto ring = Segment::attach(std::move(descriptors[ring_place]), ring_bytes(message.shape));
  if (!ring) return fail(ring.failure().status, ring.failure().message);
  auto bell =
      PeerBell::attach(std::move(descriptors[bell_page_place]), std::move(descriptors[bell_event_place]));
  if (!bell) return fail(bell.failure().status, bell.failure().message);
  ring.value().close_fd();
  acquaintance_.in = std::move(ring).value();
  acquaintance_.in_shape = message.shape;
  acquaintance_.bell = std::move(bell).value();
  auto board = Segment::attach(std::move(descriptors[board_place]), board_segment_bytes);
  if (!board) return fail(board.failure().status, board.failure().message);
  board.value().close_fd();
  acquaintance_.boards.peer = std::move(board).value();
  if (message.word_address == 0 || self_.cross_memory == nullptr) return {};
  CrossMemoryTerms& terms = acquaintance_.cross_memory;
  terms.word_address = message.word_address;
  terms.word = message.word;
  terms.we_read = try_cross_read(self_.cross_memory->read, terms.process, terms.word_address, terms.word);
  if (is_dial_) learn_result(message);
  return {};
}

}  // namespace parley::transport::shm
