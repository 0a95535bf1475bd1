#include "transport/base/env.h"

#include <parley/error.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <utility>
#include <vector>

#include "transport/base/log.h"

namespace parley::base {
namespace {

constexpr std::string_view prefix = "PARLEY_";

constexpr std::array known = {
    KnownVariable{"PARLEY_RANK", "this process's rank; before all other sources"},
    KnownVariable{"PARLEY_WORLD_SIZE", "how many ranks there are"},
    KnownVariable{"PARLEY_LOCAL_RANK", "place among the ranks of this host"},
    KnownVariable{"PARLEY_STORE",
                  "where the store is: tcp://host:port or file:///path; launcher: it is served already"},
    KnownVariable{"PARLEY_TIMEOUT", "how long an operation may last: 90s, 30m, 2h, 250ms, none; default 30m"},
    KnownVariable{"PARLEY_INIT_TIMEOUT", "how long init() may last, same grammar; default 5m"},
    KnownVariable{"PARLEY_DEBUG", "lowest level that is logged: error, warn, info, debug; default warn"},
    KnownVariable{"PARLEY_DEBUG_SUBSYS",
                  "subsystems that log: socket,store for these, ^env for all but this one"},
    KnownVariable{"PARLEY_SECRET", "proof that processes belong to one job; the launcher makes one"},
    KnownVariable{"PARLEY_SECRET_FILE", "private file that holds the secret; wins over PARLEY_SECRET"},
    KnownVariable{"PARLEY_AUTH", "off: connections prove nothing and whoever comes is let in; default on"},
    KnownVariable{"PARLEY_TLS",
                  "1: connections are encrypted, store and data; on all ranks alike; default 0"},
    KnownVariable{"PARLEY_HOST", "address or name of this host to listen on and to advertise"},
    KnownVariable{"PARLEY_FULL_MESH_LIMIT",
                  "largest world whose ranks are all linked at the start, as rank 0 has it; default 32"},
    KnownVariable{"PARLEY_TRANSPORTS",
                  "what may link two processes: tcp, shm, or ^tcp for all but this one; default shm,tcp"},
    KnownVariable{"PARLEY_CUDA", "off: devices are left alone, as if there were none; default on"},
    KnownVariable{"PARLEY_DEVICE_PATH",
                  "how device memory goes: nccl, ipc (without NCCL) or staged (by the host)"},
    KnownVariable{"PARLEY_SOCKET_IFNAME", "interfaces or networks to choose that address from"},
    KnownVariable{"PARLEY_PORT_RANGE", "ports to listen on where any will do: 5000-5099"},
    KnownVariable{"PARLEY_EAGER_LIMIT",
                  "largest message, in bytes, that is sent before its receive is matched"},
    KnownVariable{"PARLEY_CACHE_BYTES",
                  "last-level cache of this host's ranks together; results of half of it go past it"},
    KnownVariable{"PARLEY_ALGO", "algorithms of collectives: all_reduce=ring,broadcast=binomial"},
    KnownVariable{"PARLEY_TUNING", "file of measured choices between algorithms; the same on all ranks"},
    KnownVariable{
        "PARLEY_SPAWN",
        "which call of spawn() a process is there for; spawn() itself sets it, with {.exec = true}"},
    KnownVariable{"PARLEY_BENCH_SLOW", "parley-bench makes Parley so many times as slow: tests of the bench"},
    KnownVariable{"PARLEY_BENCH_NO_SPIN", "1: raw loops of parley-bench sleep: tests of its floor"},
    KnownVariable{"PARLEY_LONG_TESTS", "the tests run the full counts of every soak and kill test"},
};

template <typename Integer>
std::optional<Integer> parse_whole(std::string_view text) noexcept {
  Integer value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// The length of one unit in nanoseconds, 0 when there is no such unit.
std::int64_t unit_ns(std::string_view unit) noexcept {
  using std::chrono::nanoseconds;
  if (unit == "ms") return nanoseconds(std::chrono::milliseconds(1)).count();
  if (unit == "s" || unit.empty()) return nanoseconds(std::chrono::seconds(1)).count();
  if (unit == "m") return nanoseconds(std::chrono::minutes(1)).count();
  if (unit == "h") return nanoseconds(std::chrono::hours(1)).count();
  return 0;
}

// Levenshtein's distance: how many characters must be inserted, removed or replaced.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, replace}));
    }
  }
  return row[b.size()];
}

bool is_known(std::string_view name) noexcept {
  return std::any_of(known.begin(), known.end(), [&](const auto& variable) { return variable.name == name; });
}

}  // namespace

std::span<const KnownVariable> known_variables() noexcept {
  return known;
}

std::optional<std::string> env_string(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return std::string(value);
}

std::optional<std::int64_t> env_integer(const char* name) {
  const auto text = env_string(name);
  if (!text) return std::nullopt;
  const auto value = parse_whole<std::int64_t>(*text);
  if (!value) throw UsageError(concat(name, "=", *text, " is not an integer of 64 bits"));
  return value;
}

std::optional<std::chrono::nanoseconds> env_duration(const char* name) {
  const auto text = env_string(name);
  if (!text) return std::nullopt;
  const auto value = parse_duration(*text);
  if (!value)
    throw UsageError(
        concat(name, "=", *text, " is not a duration: write 90s, 30m, 2h, 250ms, plain seconds or none"));
  return value;
}

std::optional<std::chrono::nanoseconds> parse_duration(std::string_view text) {
  if (text == "none") return std::chrono::nanoseconds::max();
  const auto digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto count = parse_whole<std::int64_t>(text.substr(0, digits));
  const auto unit = unit_ns(text.substr(digits));
  if (!count || unit == 0 || *count > std::numeric_limits<std::int64_t>::max() / unit) return std::nullopt;
  return std::chrono::nanoseconds(*count * unit);
}

std::string_view nearest_variable(std::string_view name) {
  if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  std::string_view nearest;
  // A longer name may hold more slips; beyond this limit a suggestion would be a guess.
  std::size_t limit = 1 + name.size() / 4;
  for (const auto& variable : known) {
    const std::size_t distance = edit_distance(name, variable.name.substr(prefix.size()));
    if (distance > limit || (distance == limit && !nearest.empty())) continue;
    nearest = variable.name;
    limit = distance;
  }
  return nearest;
}

void warn_about_unknown_variables() {
  static std::atomic<bool> warned{false};
  // relaxed: the flag guards no other data.
  if (environ == nullptr || warned.exchange(true, std::memory_order_relaxed)) return;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    std::string_view name(*entry);
    name = name.substr(0, name.find('='));
    if (!name.starts_with(prefix) || is_known(name)) continue;
    const std::string_view nearest = nearest_variable(name);
    if (nearest.empty()) {
      PARLEY_LOG(warn, "env", "unknown variable ", name);
    } else {
      PARLEY_LOG(warn, "env", "unknown variable ", name, ": did you mean ", nearest, "?");
    }
  }
}

}  // namespace parley::base
