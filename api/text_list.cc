#include "api/text_list.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "transport/base/log.h"
#include "transport/base/wire.h"

namespace parley::detail {

using base::concat;

namespace {

base::Failure no_list(std::string why) {
  return {base::Code::protocol_violation, std::move(why)};
}

}  // namespace

std::size_t encoded_bytes(std::span<const std::string> texts) noexcept {
  std::size_t bytes = (1 + texts.size()) * sizeof(std::uint64_t);
  for (const std::string& text : texts) bytes += text.size();
  return bytes;
}

std::vector<std::byte> encode_texts(std::span<const std::string> texts) {
  std::vector<std::byte> message(encoded_bytes(texts));
  std::byte* to = message.data();
  const auto put = [&](const void* data, std::size_t bytes) {
    to = std::copy_n(static_cast<const std::byte*>(data), bytes, to);
  };
  const auto put_number = [&](std::uint64_t number) { put(&number, sizeof(number)); };
  put_number(texts.size());
  for (const std::string& text : texts) put_number(text.size());
  for (const std::string& text : texts) put(text.data(), text.size());
  return message;
}

base::Result<std::vector<std::string>> decode_texts(std::span<const std::byte> message) {
  base::WireReader numbers(message);
  const auto count = numbers.get<std::uint64_t>();
  if (!count) return no_list(concat("it has ", message.size(), " bytes, too few for a list"));
  const std::size_t room = message.size() - sizeof(std::uint64_t);
  if (*count > room / sizeof(std::uint64_t))
    return no_list(concat("it announces ", *count, " objects in ", message.size(), " bytes"));
  std::span<const std::byte> left = message.subspan((1 + *count) * sizeof(std::uint64_t));
  std::vector<std::string> texts;
  texts.reserve(*count);
  for (std::uint64_t i = 0; i < *count; ++i) {
    const std::uint64_t bytes = numbers.get<std::uint64_t>().value_or(0);
    if (bytes > left.size())
      return no_list(concat("object ", i, " has ", bytes, " bytes, and only ", left.size(), " are left"));
    texts.emplace_back(reinterpret_cast<const char*>(left.data()), bytes);
    left = left.subspan(bytes);
  }
  if (!left.empty()) return no_list(concat(left.size(), " bytes follow its last object"));
  return texts;
}

int nesting_of(std::string_view json) noexcept {
  int depth = 0, deepest = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_string) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      deepest = std::max(deepest, ++depth);
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return deepest;
}

}  // namespace parley::detail
