#include "rendezvous/slurm.h"

namespace parley::rendezvous {
namespace {

// FNV-1a, which is short and the same everywhere; nobody attacks it here.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3;
  }
  return hash ^ (hash >> 32);
}

}  // namespace

std::optional<std::string> first_node(std::string_view list) {
  constexpr std::string_view digits = "0123456789";
  std::string node;
  while (!list.empty() && list.front() != ',') {
    if (list.front() == ']') return std::nullopt;
    if (list.front() != '[') {
      node += list.front();
      list.remove_prefix(1);
      continue;
    }
    // The first number of the first range stands for the brackets.
    const std::size_t close = list.find(']');
    if (close == std::string_view::npos) return std::nullopt;
    const std::string_view ranges = list.substr(1, close - 1);
    const std::string_view number = ranges.substr(0, ranges.find_first_not_of(digits));
    if (number.empty() || ranges.find_first_not_of("0123456789,-") != std::string_view::npos)
      return std::nullopt;
    node += number;
    list.remove_prefix(close + 1);
  }
  if (node.empty()) return std::nullopt;
  return node;
}

std::uint16_t port_for(std::string_view job) {
  constexpr std::uint64_t first = 15000;
  constexpr std::uint64_t count = 17000;
  return static_cast<std::uint16_t>(first + hash_of(job) % count);
}

}  // namespace parley::rendezvous
