#include "bench/choice.h"

#include <algorithm>
#include <numeric>

#include "bench/options.h"

namespace parley::bench {
namespace {

// A word that needs more changes than this is another word.
constexpr std::size_t most_changes = 3;

// Levenshtein's distance: how many letters must be inserted, removed or replaced.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

// How many changes make `word` the name; a part of the name, such as its beginning, counts as one.
std::size_t changes(std::string_view word, std::string_view name) {
  return name.find(word) != std::string_view::npos ? 1 : distance(word, name);
}

std::string suggestion(std::string_view word, std::span<const std::string_view> names) {
  const auto nearest = std::min_element(names.begin(), names.end(),
                                        [&](auto a, auto b) { return changes(word, a) < changes(word, b); });
  if (word.size() < 2 || changes(word, *nearest) > std::min(most_changes, word.size() - 1)) return {};
  return "; did you mean " + std::string(*nearest) + "?";
}

}  // namespace

std::vector<std::string_view> parts_of(std::string_view list) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t comma = std::min(list.find(',', begin), list.size());
    parts.push_back(list.substr(begin, comma - begin));
    begin = comma + 1;
  }
  return parts;
}

std::string enumerate(std::span<const std::string_view> names) {
  std::string text(names.front());
  for (std::size_t i = 1; i < names.size(); ++i) {
    text += i + 1 < names.size() ? ", " : " or ";
    text += names[i];
  }
  return text;
}

std::size_t choose(std::string_view what, std::string_view word, std::span<const std::string_view> names) {
  const auto found = std::find(names.begin(), names.end(), word);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  throw CommandLineError("there is no " + std::string(what) + " '" + std::string(word) + "': write " +
                         enumerate(names) + suggestion(word, names));
}

}  // namespace parley::bench
