#include "api/wireup/algorithm_settings.h"

#include <parley/error.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include "transport/base/env.h"
#include "transport/base/log.h"

namespace parley::wireup {
namespace {

constexpr const char* algorithms_variable = "PARLEY_ALGO";
constexpr const char* tuning_variable = "PARLEY_TUNING";

// A table of all operations and of a thousand numbers of ranks is not as long.
constexpr std::size_t most_bytes = std::size_t{16} << 20;

std::string read_file(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text;
  // Not all at once: the path may be a device that never ends.
  for (char part[4096]; file && text.size() <= most_bytes;) {
    file.read(part, sizeof(part));
    text.append(part, static_cast<std::size_t>(file.gcount()));
  }
  if (file.eof()) return text;
  throw UsageError(base::concat(
      tuning_variable, ": ", path, " cannot be read: ",
      text.size() > most_bytes ? "it is no tuning file" : std::generic_category().message(errno)));
}

std::shared_ptr<const schedule::Tuning> read_tuning(const std::string& path) {
  auto parsed = schedule::parse_tuning(read_file(path));
  if (!parsed) throw UsageError(base::concat(tuning_variable, ": ", path, ", ", parsed.failure().message));
  return std::make_shared<const schedule::Tuning>(std::move(parsed).value());
}

std::string name_of(const std::vector<rendezvous::AddressCard>& cards, std::size_t rank) {
  const rendezvous::AddressCard& card = cards[rank];
  return base::concat("rank ", rank, " (", card.host, ", pid ", card.pid, ") has ",
                      card.algorithms == 0 ? "none" : base::concat("some with the digest ", card.algorithms));
}

}  // namespace

schedule::Overrides chosen_algorithms() {
  auto parsed = schedule::parse_overrides(base::env_string(algorithms_variable).value_or(""));
  if (!parsed) throw UsageError(base::concat(algorithms_variable, ": ", parsed.failure().message));
  schedule::Overrides overrides = parsed.value();
  if (const auto path = base::env_string(tuning_variable)) overrides.set_tuning(read_tuning(*path));
  return overrides;
}

// FNV-1a, 64 bits, from the table's hash on, which is of that kind.
std::uint64_t settings_hash(const schedule::Overrides& overrides) noexcept {
  std::uint64_t hash = overrides.tuning() == nullptr ? 0 : overrides.tuning()->hash();
  for (std::size_t operation = 0; operation < schedule::operation_count; ++operation) {
    const auto algorithm = overrides.of(static_cast<schedule::Operation>(operation));
    if (!algorithm) continue;
    for (const std::uint64_t part : {operation + 1, static_cast<std::uint64_t>(*algorithm) + 1})
      hash = (hash ^ part) * 0x100000001b3U;
  }
  return hash;
}

std::optional<std::string> find_two_settings(const std::vector<rendezvous::AddressCard>& cards) {
  const auto odd = std::find_if(cards.begin(), cards.end(), [&](const auto& card) {
    return card.algorithms != cards.front().algorithms;
  });
  if (odd == cards.end()) return std::nullopt;
  return base::concat("the ranks have different settings of algorithms: ", name_of(cards, 0), ", ",
                      name_of(cards, static_cast<std::size_t>(odd - cards.begin())), ": set ",
                      algorithms_variable, " to the same on all ranks, and ", tuning_variable,
                      " to the same file, or neither");
}

}  // namespace parley::wireup
