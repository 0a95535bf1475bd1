#include "api/launch/environment.h"

#include <cstdlib>

#include "api/launch/spawn_order.h"

namespace parley::launch {

Environment rank_environment(int rank, int ranks, const Rendezvous& rendezvous, const Environment& extra) {
  Environment environment = extra;
  environment["RANK"] = environment["LOCAL_RANK"] = std::to_string(rank);
  environment["WORLD_SIZE"] = environment["LOCAL_WORLD_SIZE"] = std::to_string(ranks);
  environment["MASTER_ADDR"] = rendezvous.host;
  environment["MASTER_PORT"] = std::to_string(rendezvous.port);
  environment["PARLEY_SECRET"] = rendezvous.secret;
  // The store at MASTER_ADDR:MASTER_PORT is served already; rank 0 must not do it.
  environment["PARLEY_STORE"] = "launcher";
  return environment;
}

std::optional<std::string> complaint_about(const std::string& name) {
  if (name.empty() || name.find('=') != std::string::npos || name.find('\0') != std::string::npos)
    return "'" + name + "' cannot be the name of a variable";
  if (rank_environment(0, 1, {}, {}).contains(name) || name == spawn_order_variable)
    return "the launcher itself sets " + name + " for every rank";
  for (const char* own : {"PARLEY_TLS", "PARLEY_AUTH", "PARLEY_SECRET_FILE"})
    if (name == own) return name + " counts for the launcher's store, too: set it for parley-run itself";
  return std::nullopt;
}

std::string encode(const Environment& environment) {
  std::string text;
  for (const auto& [name, value] : environment) {
    text += name + '=' + value;
    text += '\0';
  }
  text += '\0';
  return text;
}

std::optional<Environment> decode(std::string_view text) {
  Environment environment;
  while (!text.empty()) {
    const std::size_t end = text.find('\0');
    if (end == std::string_view::npos) return std::nullopt;
    if (end == 0) return environment;
    const std::string_view entry = text.substr(0, end);
    const std::size_t equals = entry.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    environment.emplace(entry.substr(0, equals), entry.substr(equals + 1));
    text.remove_prefix(end + 1);
  }
  return std::nullopt;
}

void apply(const Environment& environment) {
  for (const auto& [name, value] : environment) ::setenv(name.c_str(), value.c_str(), 1);
}

}  // namespace parley::launch
