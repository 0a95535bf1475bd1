#include "transport/tcp/frame_receiver.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "transport/base/copy_bulk.h"
#include "transport/tcp/padding.h"

namespace parley::transport {

using base::Code;
using base::Status;

FrameReceiver::FrameReceiver(socket::Connection& connection)
    : connection_(connection), staging_(new std::byte[staging_bytes]) {}

Status FrameReceiver::receive(Endpoint& self, PacketSink& sink, std::size_t& events) noexcept {
  std::size_t bytes = 0;
  std::size_t wanted = 0;
  if (const Status status = read_once(bytes, wanted); !status.ok()) return status;
  read_in_pass_ += bytes;
  if (const Status status = deliver(self, sink, events); !status.ok()) return status;
  return bytes < wanted ? Code::again : Code::ok;  // the socket is empty: no call to hear it say so
}

// One successful system call at most.
Status FrameReceiver::read_once(std::size_t& bytes, std::size_t& wanted) noexcept {
  ssize_t got = 0;
  const bool direct = payload_left_ >= direct_bytes;
  do {
    if (direct) {
      // The staging buffer is empty here: deliver() moved all of it into the payload.
      std::array<iovec, 2> parts{{{destination_, payload_left_}, {staging_.get(), behind_bytes}}};
      wanted = payload_left_ + behind_bytes;
      got = connection_.receive(parts);
    } else {
      wanted = staging_bytes - tail_;
      got = connection_.receive(staging_.get() + tail_, wanted);
    }
  } while (got < 0 && errno == EINTR);
  if (got == 0) return Code::peer_died;
  if (got < 0) {
    if (errno == EAGAIN || errno == EWOULDBLOCK) return Code::again;
    return {Code::peer_died, errno};
  }
  bytes = static_cast<std::size_t>(got);
  std::size_t staged = bytes;
  if (direct) {
    const std::size_t landed = std::min(bytes, payload_left_);
    destination_ += landed;
    payload_left_ -= landed;
    staged -= landed;
  }
  tail_ += staged;
  return {};
}

// Moves staged bytes of the landing payload to its place. False: more are to come.
bool FrameReceiver::land(Endpoint& self, PacketSink& sink, std::size_t& events) noexcept {
  const std::size_t bytes = std::min(payload_left_, tail_ - head_);
  if (bytes != 0) {
    base::copy_bulk(destination_, staging_.get() + head_, bytes);
    destination_ += bytes;
    payload_left_ -= bytes;
    head_ += bytes;
  }
  ++events;
  if (payload_left_ != 0) return false;
  landing_ = false;
  sink.on_landed(self, header_);
  return true;
}

// Who says goodbye waits until all it sent is acknowledged; the kernel would take 40 ms over the last of it.
void FrameReceiver::acknowledge_now() noexcept {
  const int on = 1;
  setsockopt(connection_.descriptor(), IPPROTO_TCP, TCP_QUICKACK, &on, sizeof(on));
}

Status FrameReceiver::deliver(Endpoint& self, PacketSink& sink, std::size_t& events) noexcept {
  while (!stopped_) {
    if (landing_) {
      if (!land(self, sink, events)) break;
      continue;
    }
    const std::size_t available = tail_ - head_;
    if (available < sizeof(PacketHeader)) break;
    PacketHeader header;
    std::memcpy(&header, staging_.get() + head_, sizeof(header));
    const bool is_padding = header.kind == padding_kind;
    if (header.payload_bytes > (is_padding ? most_padding_payload_bytes : max_payload_bytes))
      return Code::protocol_violation;
    if (available - sizeof(header) >= header.payload_bytes) {
      const std::byte* payload = staging_.get() + head_ + sizeof(header);
      head_ += sizeof(header) + header.payload_bytes;
      if (is_padding) continue;
      ++events;
      if (header.kind == PacketKind::goodbye) acknowledge_now();
      sink.on_packet(self, header, {payload, header.payload_bytes});
      continue;
    }
    if (header.payload_bytes <= whole_bytes) break;
    head_ += sizeof(header);
    header_ = header;
    destination_ = sink.on_header(self, header).data;
    payload_left_ = header.payload_bytes;
    landing_ = true;
  }
  // What is left is less than a header and a whole payload: keep room for the rest of it behind.
  if (head_ == tail_) {
    head_ = tail_ = 0;
  } else if (staging_bytes - head_ < sizeof(PacketHeader) + whole_bytes) {
    std::memmove(staging_.get(), staging_.get() + head_, tail_ - head_);
    tail_ -= head_;
    head_ = 0;
  }
  return stopped_ ? Status(Code::closed) : Status();
}

}  // namespace parley::transport
