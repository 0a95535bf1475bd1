#include "rendezvous/store_codec.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace parley::rendezvous {
namespace {

// Reads a count of length-prefixed strings and hands each to `take`. A count that the body cannot hold, or
// that is beyond what a store holds, is refused before anything is made of it.
template <typename Take>
bool read_strings(base::WireReader& reader, const Frame& frame, Take take) {
  const auto count = reader.get<std::uint32_t>();
  if (!count || *count > std::min(frame.body.size() / sizeof(std::uint32_t), TableLimits{}.keys))
    return false;
  for (std::uint32_t i = 0; i < *count; ++i) {
    const auto bytes = reader.get_bytes();
    if (!bytes) return false;
    take(*bytes);
  }
  return true;
}

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool read_missing(base::WireReader& reader, const Frame& frame, std::vector<std::uint32_t>& missing) {
  const auto count = reader.get<std::uint32_t>();
  if (!count || *count > frame.body.size() / sizeof(std::uint32_t)) return false;
  for (std::uint32_t i = 0; i < *count; ++i) {
    const auto index = reader.get<std::uint32_t>();
    if (!index) return false;
    missing.push_back(*index);
  }
  return true;
}

std::size_t values_expected(const Request& request) {
  switch (request.command) {
    case Command::get:
    case Command::compare_set:
    case Command::multi_get: return request.keys.size();
    default: return 0;
  }
}

}  // namespace

base::Bytes encode_request(std::uint64_t id, const Request& request) {
  auto writer = begin_frame(static_cast<std::uint8_t>(request.command), id);
  writer.put(static_cast<std::int64_t>(request.timeout.count())).put(request.delta);
  writer.put(static_cast<std::uint32_t>(request.keys.size()));
  for (const auto key : request.keys) writer.put_string(key);
  writer.put(static_cast<std::uint32_t>(request.values.size()));
  for (const auto value : request.values) writer.put_bytes(value);
  return finish_frame(std::move(writer));
}

std::optional<Request> decode_request(const Frame& frame) {
  Request request;
  request.command = static_cast<Command>(frame.kind);
  base::WireReader reader(frame.body);
  const auto timeout_ns = reader.get<std::int64_t>();
  const auto delta = reader.get<std::int64_t>();
  if (!timeout_ns || !delta) return std::nullopt;
  request.timeout = std::chrono::nanoseconds(std::max<std::int64_t>(*timeout_ns, 0));
  request.delta = *delta;
  if (!read_strings(reader, frame, [&](auto bytes) { request.keys.push_back(as_text(bytes)); }) ||
      !read_strings(reader, frame, [&](auto bytes) { request.values.push_back(bytes); }))
    return std::nullopt;
  if (!reader.finished() || !well_formed(request)) return std::nullopt;
  return request;
}

base::Bytes encode_reply(std::uint64_t id, const Reply& reply) {
  auto writer = begin_frame(static_cast<std::uint8_t>(reply.status), id);
  writer.put(reply.number);
  writer.put(static_cast<std::uint32_t>(reply.values.size()));
  for (const auto& value : reply.values) writer.put_bytes(value);
  writer.put(static_cast<std::uint32_t>(reply.missing.size()));
  for (const auto index : reply.missing) writer.put(index);
  writer.put_string(reply.text);
  return finish_frame(std::move(writer));
}

std::optional<Reply> decode_reply(const Frame& frame, const Request& request) {
  if (frame.kind > static_cast<std::uint8_t>(ReplyStatus::timed_out)) return std::nullopt;
  Reply reply;
  reply.status = static_cast<ReplyStatus>(frame.kind);
  base::WireReader reader(frame.body);
  const auto number = reader.get<std::int64_t>();
  if (!number) return std::nullopt;
  reply.number = *number;
  if (!read_strings(reader, frame,
                    [&](auto bytes) { reply.values.emplace_back(bytes.begin(), bytes.end()); }))
    return std::nullopt;
  if (!read_missing(reader, frame, reply.missing)) return std::nullopt;
  auto text = reader.get_string();
  if (!text || !reader.finished()) return std::nullopt;
  reply.text = *std::move(text);
  if (reply.status == ReplyStatus::ok && reply.values.size() != values_expected(request)) return std::nullopt;
  return reply;
}

}  // namespace parley::rendezvous
