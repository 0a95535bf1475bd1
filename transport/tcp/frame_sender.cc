#include "transport/tcp/frame_sender.h"

#include <sys/uio.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <span>
#include <utility>

#include "transport/tcp/padding.h"

namespace parley::transport {

using base::Code;
using base::Status;

FrameSender::FrameSender(socket::Connection& connection)
    : connection_(connection), staging_(new std::byte[staging_bytes]) {}

void FrameSender::stage(const void* data, std::size_t bytes) noexcept {
  if (bytes == 0) return;
  std::memcpy(staging_.get() + tail_, data, bytes);
  tail_ += bytes;
}

void FrameSender::stage_padding(const std::byte* payload) noexcept {
  const std::size_t position = staged() + sizeof(PacketHeader);
  const std::size_t bytes = padding_bytes(position, reinterpret_cast<std::uintptr_t>(payload));
  // An encrypted payload is copied elsewhere.
  if (bytes == 0 || staging_bytes - tail_ < bytes || connection_.encrypted()) return;
  PacketHeader header{.kind = padding_kind};
  header.payload_bytes = static_cast<std::uint32_t>(bytes - sizeof(header));
  constexpr std::array<std::byte, most_padding_payload_bytes> nothing{};
  stage(&header, sizeof(header));
  stage(nothing.data(), header.payload_bytes);
}

Status FrameSender::post(const PacketHeader& header, const base::ConstMemoryRef& payload, Completion* done,
                         bool at_once) noexcept {
  if (large_left() != 0) return Code::again;
  if (payload.bytes <= copy_limit_bytes) {
    const std::size_t total = sizeof(header) + payload.bytes;
    if (staging_bytes - tail_ < total) {
      if (const Status status = write_out(); status.failed()) return status;
      if (staging_bytes - tail_ < total) return Code::again;
    }
    stage(&header, sizeof(header));
    stage(payload.data, payload.bytes);
    if (!at_once && staged() < flush_bytes) return {};
    const Status status = write_out();
    return status.failed() ? status : Status();
  }
  assert(large_.done == nullptr);
  stage_padding(payload.data);
  std::memcpy(large_.header.data(), &header, sizeof(header));
  large_.header_sent = 0;
  large_.payload = payload.data;
  large_.payload_left = payload.bytes;
  large_.done = done;
  const Status status = write_out();
  if (status.ok() || status.failed()) large_.done = nullptr;  // the result says it all
  if (status.failed()) large_ = {};
  return status;
}

Status FrameSender::write_out() noexcept {
  while (!empty()) {
    const Status status = write_once();
    if (status.code() == Code::again) return Code::in_progress;
    if (status.failed()) return status;
  }
  return {};
}

// One system call. `ok`: some bytes left. Bytes stay where they are and more only follows them until they
// have left, as an encrypted connection wants it.
Status FrameSender::write_once() noexcept {
  ssize_t sent = 0;
  if (large_.payload_left != 0 && left_in_pass_ == 0) return Code::again;
  if (large_left() == 0) {
    sent = connection_.send(staging_.get() + head_, staged());
  } else {
    std::array<iovec, 3> parts;
    std::size_t count = 0;
    if (staged() != 0) parts[count++] = {staging_.get() + head_, staged()};
    if (large_.header_sent != sizeof(PacketHeader))
      parts[count++] = {large_.header.data() + large_.header_sent, sizeof(PacketHeader) - large_.header_sent};
    if (large_.payload_left != 0)
      parts[count++] = {const_cast<std::byte*>(large_.payload),  // sendmsg only reads
                        std::min(large_.payload_left, left_in_pass_)};
    sent = connection_.send(std::span(parts).first(count));
  }
  if (sent >= 0) {
    consume(static_cast<std::size_t>(sent));
    return {};
  }
  if (errno == EINTR) return {};
  if (errno == EAGAIN || errno == EWOULDBLOCK) return Code::again;
  return {Code::peer_died, errno};
}

void FrameSender::consume(std::size_t bytes) noexcept {
  const std::size_t from_staging = std::min(bytes, staged());
  head_ += from_staging;
  if (head_ == tail_) head_ = tail_ = 0;
  bytes -= from_staging;
  const std::size_t from_header = std::min(bytes, sizeof(PacketHeader) - large_.header_sent);
  large_.header_sent += from_header;
  bytes -= from_header;
  large_.payload += bytes;
  large_.payload_left -= bytes;
  left_in_pass_ -= bytes;
}

Completion* FrameSender::take_finished() noexcept {
  return large_left() == 0 ? std::exchange(large_.done, nullptr) : nullptr;
}

Completion* FrameSender::take_abandoned() noexcept {
  head_ = tail_ = 0;
  return std::exchange(large_, Large{}).done;
}

}  // namespace parley::transport
