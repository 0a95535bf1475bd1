#include "api/wireup/link_settings.h"

#include <parley/error.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "transport/base/env.h"
#include "transport/base/log.h"

namespace parley::wireup {
namespace {

bool* find(TransportChoice& choice, std::string_view name, bool is_excluded) {
  if (name == "shm") return &choice.shm;
  if (name == "cma" && is_excluded) return &choice.cma;
  return name == "tcp" ? &choice.tcp : nullptr;
}

}  // namespace

TransportChoice parse_transports(std::string_view text) {
  TransportChoice named, excluded{.cma = false};
  const auto fail = [&](std::string_view why) {
    throw UsageError(base::concat("PARLEY_TRANSPORTS=", text, ": ", why));
  };
  for (std::size_t begin = 0; !text.empty() && begin <= text.size();) {
    const std::string_view entry = text.substr(begin, text.find(',', begin) - begin);
    begin += entry.size() + 1;
    const bool is_excluded = entry.starts_with('^');
    bool* place = find(is_excluded ? excluded : named, entry.substr(is_excluded ? 1 : 0), is_excluded);
    if (place == nullptr)
      fail(base::concat("'", entry, "' is no transport; there are shm and tcp, and ^cma"));
    *place = true;
  }
  const bool is_open = !named.shm && !named.tcp;
  const TransportChoice choice{.shm = (is_open || named.shm) && !excluded.shm,
                               .tcp = (is_open || named.tcp) && !excluded.tcp,
                               .cma = !excluded.cma};
  if (!choice.shm && !choice.tcp) fail("no transport is left");
  return choice;
}

TransportChoice chosen_transports() {
  return parse_transports(base::env_string("PARLEY_TRANSPORTS").value_or("shm,tcp"));
}

std::string_view name(DeviceWish wish) noexcept {
  switch (wish) {
    case DeviceWish::nccl: return "nccl";
    case DeviceWish::ipc: return "ipc";
    case DeviceWish::staged: return "staged";
    case DeviceWish::automatic: break;
  }
  return "automatic";
}

DeviceWish chosen_device_path() {
  const auto text = base::env_string("PARLEY_DEVICE_PATH");
  if (!text) return DeviceWish::automatic;
  for (const DeviceWish wish : {DeviceWish::nccl, DeviceWish::ipc, DeviceWish::staged})
    if (*text == name(wish)) return wish;
  throw UsageError(base::concat("PARLEY_DEVICE_PATH=", *text, " is none of nccl, ipc and staged"));
}

int full_mesh_limit() {
  constexpr std::int64_t default_limit = 32;
  const std::int64_t limit = base::env_integer("PARLEY_FULL_MESH_LIMIT").value_or(default_limit);
  if (limit < 0) throw UsageError("PARLEY_FULL_MESH_LIMIT must be 0 or more ranks");
  return static_cast<int>(std::min<std::int64_t>(limit, std::numeric_limits<int>::max()));
}

}  // namespace parley::wireup
