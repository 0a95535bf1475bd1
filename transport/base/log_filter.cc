#include "transport/base/log_filter.h"

#include <algorithm>
#include <array>

namespace parley::base {
namespace {

constexpr std::array<std::string_view, 9> subsystems = {"collective", "cuda", "engine", "env",  "init",
                                                        "p2p",        "shm",  "socket", "store"};
constexpr std::string_view every = "all";

bool contains(const std::vector<std::string>& names, std::string_view name) noexcept {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string_view trim(std::string_view text) noexcept {
  const auto first = std::min(text.find_first_not_of(' '), text.size());
  text.remove_prefix(first);
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

}  // namespace

std::span<const std::string_view> known_subsystems() noexcept {
  return subsystems;
}

SubsystemFilter::SubsystemFilter(std::string_view text) {
  while (!text.empty()) {
    const auto comma = std::min(text.find(','), text.size());
    std::string_view name = trim(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
    const bool exclude = name.starts_with('^');
    if (exclude) name.remove_prefix(1);
    if (!name.empty()) (exclude ? excluded_ : included_).emplace_back(name);
  }
}

bool SubsystemFilter::admits(LogLevel level, std::string_view subsystem) const noexcept {
  if (contains(excluded_, subsystem)) return false;
  if (level <= LogLevel::warn || included_.empty()) return true;
  return contains(included_, subsystem) || contains(included_, every);
}

std::vector<std::string> SubsystemFilter::unknown() const {
  std::vector<std::string> names;
  for (const auto* list : {&included_, &excluded_})
    for (const std::string& name : *list)
      if (name != every && std::find(subsystems.begin(), subsystems.end(), name) == subsystems.end())
        names.push_back(name);
  return names;
}

}  // namespace parley::base
