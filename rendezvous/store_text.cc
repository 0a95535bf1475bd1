#include "rendezvous/store_text.h"

#include <algorithm>

#include "transport/base/log.h"

namespace parley::rendezvous {

std::string duration_text(std::chrono::nanoseconds duration) {
  if (duration == std::chrono::nanoseconds::max()) return "no limit";
  struct Unit {
    std::int64_t ns;
    const char* name;
  };
  static constexpr Unit units[] = {
      {60'000'000'000, " min"}, {1'000'000'000, " s"}, {1'000'000, " ms"}, {1'000, " us"}, {1, " ns"}};
  const std::int64_t ns = duration.count();
  if (ns == 0) return "0 ms";
  const auto* unit = std::ranges::find_if(units, [ns](const Unit& u) { return ns % u.ns == 0; });
  return base::concat(ns / unit->ns, unit->name);
}

std::string key_text(std::string_view key) {
  constexpr std::size_t shown = 64;
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (const char c : key.substr(0, shown)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f) {
      text += c;
    } else {
      text += "\\x";
      text += digits[byte >> 4];
      text += digits[byte & 15];
    }
  }
  if (key.size() > shown) text += "...";
  return text;
}

std::string keys_text(std::span<const std::string_view> keys) {
  constexpr std::size_t shown = 8;
  std::string text;
  for (std::size_t i = 0; i < std::min(keys.size(), shown); ++i) {
    if (i > 0) text += ", ";
    text += key_text(keys[i]);
  }
  if (keys.size() > shown) text += base::concat(" and ", keys.size() - shown, " more");
  return text;
}

std::string endpoint_text(std::string_view host, std::uint16_t port) {
  const bool bare_v6 = host.find(':') != std::string_view::npos && !host.starts_with('[');
  return bare_v6 ? base::concat("[", host, "]:", port) : base::concat(host, ":", port);
}

std::string timed_out_text(std::string_view operation, std::chrono::nanoseconds timeout,
                           std::span<const std::string_view> missing, std::size_t total) {
  return base::concat(operation, " timed out after ", duration_text(timeout),
                      ", missing keys: ", keys_text(missing), " (", total - missing.size(), " of ", total,
                      " present)");
}

}  // namespace parley::rendezvous
