#pragma once

#include <cstdint>
#include <type_traits>

namespace parley::transport {

// What a packet asks of its receiver. Fields that a kind does not name are 0. 0 is no kind: links may use it
// for themselves.
enum class PacketKind : std::uint8_t {
  // Messages: context, tag, type_code and message_bytes describe them; these two are matched.

  // A whole message as payload.
  eager = 1,
  // A message whose data follow when it is matched: too large or without credit for eager, or synchronous.
  // id: the sender's request; payload: none, or the RemoteKey under which a mover finds the data.
  offer = 2,
  // One that would have been eager, and that the receiver may pull before its data follow as `fill`. As
  // `offer`, with a key.
  tender = 22,

  // The course of one message. Request numbers are those that the addressee gave out itself, but for
  // `revoke`.

  // "Send what you offered." id: request of the offer; tag: the receive's request; message_bytes: how many
  // bytes are wanted. 0 when the receive has ended without them; tag is then 1 if a mover has brought them.
  // payload: none, or the RemoteKey of a place to which the sender's device mover may push them.
  grant = 3,
  // A piece of a granted message. id: the receive's request; tag: offset of the piece in bytes.
  data = 4,
  // An offer is taken back. id: the sender's request, as in the offer.
  revoke = 5,
  // A grant came too late, its offer is gone. id: the receive's request.
  revoked = 6,

  // Between two processes.

  // Brings credit only.
  credit = 7,
  // `context` was aborted; told by everybody who learns of it. id: 1 + the number of the process that aborted
  // it. tag: an AbortManner. payload: the reason as text.
  abort = 8,
  // The sender has waited long for this process. context, tag, type_code, message_bytes: for what;
  // id: StallBits.
  stall = 9,
  // The last `stall` no longer holds.
  resume = 10,
  // The sender leaves, nothing follows. id: 0 in good order, else 1 + the number of the process whose failure
  // made it leave; tag: a Farewell.
  goodbye = 11,
  // Asks whether the process makes progress; answered by `pong`.
  ping = 12,
  pong = 13,
  // The answer to a dialled link, the first packet on it: it is the link of the two processes.
  welcome = 14,
  // It is not, and closes. id: a TurnedAway.
  turned_away = 15,

  // The whole message of a tender that was not pulled soon, with credit, as an eager one. id: the sender's
  // request, as in the offer; message_bytes: as there.
  fill = 16,

  // Which of the messages to the sender of this packet had better be pulled, and not sent whole.
  // id: PathChoice::pulled_classes().
  preference = 18,

  // The sender has closed `context`: nothing of it follows there, and what is sent to it there is for nobody.
  departed = 17,

  // As `offer`, of memory on a device. payload: none, or the RemoteKey under which a device mover finds it.
  device_offer = 19,
  // For the device mover of the receiver of this packet. payload: its.
  device_note = 20,
  // The answer to a grant with a place: the sender's device brings the data there. id: the receive's request;
  // tag: 1, or 0 where the device has failed.
  pushed = 21,
};

// PacketHeader::id of a `turned_away`.
enum class TurnedAway : std::uint32_t {
  crossed = 1,  // the sender, of the higher number, has dialled as well: its own link stays
  taken = 2,    // the sender has, or had, a link to a process of this number
};

// PacketHeader::tag of a `goodbye`.
enum class Farewell : std::int64_t {
  leaving = 0,
  // This link only:
  giving_up = 1,    // an operation's deadline passed in the middle of its transfer, or memory was short
  complaining = 2,  // the receiver of this packet broke the protocol
};

// PacketHeader::tag of an `abort`: when to close a link that still uses a buffer of what was aborted.
enum class AbortManner : std::int64_t {
  prompt = 0,    // at once: who waits is to return
  gentle = 1,    // when all hope is lost: what else the link carries is to go on
  bereaved = 2,  // likewise, because the process that the abort names has died
};

// PacketHeader::id of a `stall`.
enum StallBits : std::uint32_t {
  stall_of_send = 1,
  stall_of_receive = 2,
  stall_is_deadlock = 4,    // the receiver of this packet waits for its sender, too: neither will ever end
  stall_may_be_helped = 8,  // the sender may still do what the receiver waits for, on another thread
};

// In front of every packet on every transport: half a cache line, little endian, no padding.
struct PacketHeader {
  PacketKind kind{};
  std::uint8_t type_code = 0;       // element type of the message; opaque here, compared by the receiver
  std::uint16_t credits = 0;        // eager credit handed back to the receiver of this packet, in units
  std::uint32_t context = 0;        // matching: group
  std::int64_t tag = 0;             // matching: tag; else by kind
  std::uint32_t payload_bytes = 0;  // bytes that follow this header
  std::uint32_t id = 0;             // a request of one side, by kind
  std::uint64_t message_bytes = 0;  // whole message (eager, offer, tender), wanted bytes (grant)
};
static_assert(sizeof(PacketHeader) == 32 && std::is_trivially_copyable_v<PacketHeader>);

// No packet carries more than this; a longer message travels as several `data` packets, so that small
// messages pass between the pieces.
inline constexpr std::uint32_t max_payload_bytes = 1U << 20;

}  // namespace parley::transport
