#include "rendezvous/store_frame.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "transport/base/log.h"

namespace parley::rendezvous {

base::WireWriter begin_frame(std::uint8_t kind, std::uint64_t id) {
  base::WireWriter writer;
  writer.put(std::uint32_t{0}).put(protocol_version).put(kind).put(std::uint8_t{0}).put(id);
  return writer;
}

base::Bytes finish_frame(base::WireWriter writer) {
  base::Bytes bytes = std::move(writer).bytes();
  const auto body_bytes = static_cast<std::uint32_t>(bytes.size() - frame_header_bytes);
  std::memcpy(bytes.data(), &body_bytes, sizeof(body_bytes));
  return bytes;
}

bool FrameReader::fail(std::string problem) {
  problem_ = std::move(problem);
  return false;
}

bool FrameReader::read_header() {
  base::WireReader reader(header_);
  const auto body_bytes = *reader.get<std::uint32_t>();
  const auto version = *reader.get<std::uint16_t>();
  const auto kind = *reader.get<std::uint8_t>();
  const auto reserved = *reader.get<std::uint8_t>();
  if (version != protocol_version)
    return fail(base::concat("store protocol version ", version, ", this process speaks ", protocol_version));
  if (reserved != 0) return fail("a reserved byte of a frame is not zero");
  if (body_bytes > max_body_bytes_)
    return fail(base::concat("a frame of ", body_bytes, " bytes, the limit is ", max_body_bytes_));
  frame_.kind = kind;
  frame_.id = *reader.get<std::uint64_t>();
  body_bytes_ = body_bytes;
  return true;
}

FrameReader::Step FrameReader::step(std::span<const std::byte>& input, Frame& frame) {
  if (!problem_.empty()) return Step::violation;
  if (header_bytes_ < frame_header_bytes) {
    const std::size_t n = std::min(frame_header_bytes - header_bytes_, input.size());
    std::copy_n(input.begin(), n, header_ + header_bytes_);
    header_bytes_ += n;
    input = input.subspan(n);
    if (header_bytes_ < frame_header_bytes) return Step::more;
    if (!read_header()) return Step::violation;
  }
  const std::size_t n = std::min(body_bytes_ - frame_.body.size(), input.size());
  frame_.body.insert(frame_.body.end(), input.begin(), input.begin() + static_cast<std::ptrdiff_t>(n));
  input = input.subspan(n);
  if (frame_.body.size() < body_bytes_) return Step::more;
  frame = std::exchange(frame_, Frame{});
  header_bytes_ = 0;
  return Step::frame;
}

}  // namespace parley::rendezvous
