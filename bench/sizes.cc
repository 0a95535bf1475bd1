#include "bench/sizes.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <stdexcept>

namespace parley::bench {
namespace {

struct Unit {
  char letter;
  int shift;
};
constexpr std::array<Unit, 3> units = {{{'G', 30}, {'M', 20}, {'K', 10}}};

constexpr std::uint64_t largest_size = std::uint64_t{1} << 40;

constexpr const char* not_a_size =
    "is not a size: write a whole number of bytes, or of K, M or G (8, 64K, 1M)";

[[noreturn]] void refuse(std::string_view part, const char* why) {
  throw std::invalid_argument("'" + std::string(part) + "' " + why);
}

int shift_of(char letter) {
  for (const Unit& unit : units) {
    if (std::toupper(static_cast<unsigned char>(letter)) == unit.letter) return unit.shift;
  }
  return -1;
}

std::size_t parse_size(std::string_view text) {
  std::uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc::result_out_of_range) refuse(text, "is more than 1024G");
  if (error != std::errc{}) refuse(text, not_a_size);
  int shift = 0;
  if (rest != end) {
    shift = rest + 1 == end ? shift_of(*rest) : -1;
    if (shift < 0) refuse(text, not_a_size);
  }
  if (number == 0) refuse(text, "is zero; the smallest message has 1 byte");
  if (number > largest_size >> shift) refuse(text, "is more than 1024G");
  return static_cast<std::size_t>(number << shift);
}

void append_range(std::string_view part, std::size_t colon, std::vector<std::size_t>& sizes) {
  const std::size_t first = parse_size(part.substr(0, colon));
  const std::size_t last = parse_size(part.substr(colon + 1));
  if (last < first) refuse(part, "runs backwards: write the smaller size first");
  for (std::size_t bytes = first; bytes <= last; bytes *= 2) sizes.push_back(bytes);
}

}  // namespace

std::vector<std::size_t> parse_sizes(std::string_view text) {
  std::vector<std::size_t> sizes;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t comma = std::min(text.find(',', begin), text.size());
    const std::string_view part = text.substr(begin, comma - begin);
    const std::size_t colon = part.find(':');
    if (colon == std::string_view::npos) {
      sizes.push_back(parse_size(part));
    } else {
      append_range(part, colon, sizes);
    }
    begin = comma + 1;
  }
  return sizes;
}

std::string format_size(std::size_t bytes) {
  for (const Unit& unit : units) {
    const std::size_t scale = std::size_t{1} << unit.shift;
    if (bytes >= scale && bytes % scale == 0) return std::to_string(bytes / scale) + unit.letter;
  }
  return std::to_string(bytes);
}

std::string spell_size(std::size_t bytes) {
  std::string text = format_size(bytes);
  const bool has_letter = std::isalpha(static_cast<unsigned char>(text.back())) != 0;
  if (!has_letter) return text + " B";
  text.insert(text.size() - 1, " ");
  return text + "iB";
}

}  // namespace parley::bench
