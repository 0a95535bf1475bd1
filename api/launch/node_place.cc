#include "api/launch/node_place.h"

#include <parley/error.h>
#include <unistd.h>

#include <charconv>

#include "rendezvous/place_url.h"
#include "transport/socket/cookie_file.h"
#include "transport/socket/secret.h"

namespace parley::launch {
namespace {

// Empty when the user has no home, and so no cookie.
std::string path_of_cookie() {
  try {
    return socket::cookie_path();
  } catch (const SystemError&) {
    return {};
  }
}

}  // namespace

std::optional<HostAndPort> parse_rendezvous(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view given = text.substr(0, colon);
  const std::string_view host = rendezvous::without_brackets(given);
  const std::string_view digits = text.substr(colon + 1);
  // An IPv6 address without brackets: nobody can tell where it ends.
  const bool ambiguous = host.size() == given.size() && host.find(':') != std::string_view::npos;
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  const bool is_port = error == std::errc{} && end == digits.data() + digits.size() && port != 0;
  if (host.empty() || ambiguous || !is_port) return std::nullopt;
  return HostAndPort{std::string(host), port};
}

NodeSecret find_node_secret() {
  const std::string cookie = path_of_cookie();
  const bool was_there = cookie.empty() || access(cookie.c_str(), F_OK) == 0;
  NodeSecret found{socket::resolve_secret({}), {}};
  if (!was_there && access(cookie.c_str(), F_OK) == 0)
    found.remark =
        "no secret was given, so " + cookie +
        " was made; the other nodes need the same: share the home folder, or set PARLEY_SECRET on all";
  return found;
}

}  // namespace parley::launch
