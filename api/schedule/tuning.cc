#include "api/schedule/tuning.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <utility>

#include "api/schedule/names.h"

namespace parley::schedule {
namespace {

constexpr std::string_view first_line = "parley-tuning 1";
constexpr std::string_view columns = "# operation ranks link cores bytes algorithm";
constexpr std::string_view blanks = " \t\r";
constexpr std::size_t column_count = 6;
using Words = std::array<std::string_view, column_count>;

std::string_view word_of(Link link) noexcept {
  return link == Link::shared_memory ? "shm" : "tcp";
}
std::string_view word_of_cores(bool are_shared) noexcept {
  return are_shared ? "shared" : "own";
}

// Takes the next word from the text; "" at its end.
std::string_view take_word(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  const std::string_view word = text.substr(0, text.find_first_of(blanks));
  text.remove_prefix(word.size());
  return word;
}

// Takes the next line from the text, without its comment.
std::string_view take_line(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(line.size() + 1, text.size()));
  return line.substr(0, line.find('#'));
}

// One of two words; nothing when it is neither.
std::optional<bool> is_second(std::string_view word, std::string_view first, std::string_view second) {
  if (word == second) return true;
  return word == first ? std::optional(false) : std::nullopt;
}

template <typename Number>
std::optional<Number> number_in(std::string_view word) {
  Number number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  const bool is_all = error == std::errc{} && end == word.data() + word.size();
  return is_all ? std::optional(number) : std::nullopt;
}

std::string quoted(std::string_view word) {
  return '"' + std::string(word) + '"';
}

base::Failure failure(std::string why) {
  return {base::Code::invalid_argument, std::move(why)};
}

base::Result<TuningRow> parse_row(const Words& words) {
  const auto [operation, ranks, link, cores, bytes, algorithm] = words;
  const auto found = find_operation(operation);
  if (!found)
    return failure("no operation is called " + std::string(operation) + "; there are " + list_operations());
  const auto size = number_in<std::uint32_t>(ranks);
  if (!size || *size == 0) return failure(quoted(ranks) + " is no number of ranks");
  const auto is_tcp = is_second(link, word_of(Link::shared_memory), word_of(Link::tcp));
  if (!is_tcp) return failure(quoted(link) + " is no link; there are shm and tcp");
  const auto are_shared = is_second(cores, word_of_cores(false), word_of_cores(true));
  if (!are_shared)
    return failure(quoted(cores) + " says nothing of cores; write own, or shared for more ranks than cores");
  const auto limit = bytes == "any" ? any_size : number_in<std::uint64_t>(bytes);
  if (!limit) return failure(quoted(bytes) + " is no size; write a number of bytes, or any");
  const auto chosen = find_algorithm(algorithm);
  if (!chosen || !has_algorithm(*found, *chosen))
    return failure(std::string(operation) + " has no algorithm called " + std::string(algorithm) +
                   "; there are " + list_algorithms(*found));
  return TuningRow{{*found, *size, *is_tcp ? Link::tcp : Link::shared_memory, *are_shared, *limit}, *chosen};
}

// Nothing: the line says nothing.
base::Result<std::optional<TuningRow>> parse_line(std::string_view line) {
  Words words;
  std::size_t count = 0;
  for (std::string_view word = take_word(line); !word.empty(); word = take_word(line)) {
    if (count < words.size()) words[count] = word;
    ++count;
  }
  if (count == 0) return std::optional<TuningRow>();
  if (count != words.size())
    return failure("a row has " + std::to_string(words.size()) + " words, not " + std::to_string(count) +
                   ": operation ranks link cores bytes algorithm");
  auto row = parse_row(words);
  if (!row) return row.failure();
  return std::optional(row.value());
}

std::string text_of(const TuningRow& row) {
  const TuningCase& where = row.up_to;
  const std::string ranks = std::to_string(where.ranks);
  const std::string bytes = where.bytes == any_size ? "any" : std::to_string(where.bytes);
  const Words words{
      name(where.operation), ranks, word_of(where.link), word_of_cores(where.shares_cores), bytes,
      name(row.algorithm)};
  std::string text;
  for (const std::string_view word : words) text += (text.empty() ? "" : " ") + std::string(word);
  return text;
}

bool is_before(const TuningRow& left, const TuningRow& right) noexcept {
  return left.up_to < right.up_to;
}

// FNV-1a, 64 bits, of what the rows say.
std::uint64_t hash_of(std::span<const TuningRow> rows) {
  if (rows.empty()) return 0;
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const TuningRow& row : rows)
    for (const char letter : text_of(row) + '\n')
      hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3U;
  return std::max<std::uint64_t>(hash, 1);
}

}  // namespace

Tuning::Tuning(std::vector<TuningRow> rows) : rows_(std::move(rows)) {
  std::sort(rows_.begin(), rows_.end(), is_before);
  hash_ = hash_of(rows_);
}

std::optional<Algorithm> Tuning::find(const TuningCase& wanted) const noexcept {
  const auto found = std::lower_bound(rows_.begin(), rows_.end(), TuningRow{wanted, {}}, is_before);
  if (found == rows_.end()) return std::nullopt;
  TuningCase as_large = wanted;
  as_large.bytes = found->up_to.bytes;
  return found->up_to == as_large ? std::optional(found->algorithm) : std::nullopt;
}

base::Result<Tuning> parse_tuning(std::string_view text) {
  const auto failed_at = [](std::size_t line, const std::string& why) {
    return failure("line " + std::to_string(line) + ": " + why);
  };
  std::string_view head = take_line(text);
  const std::string_view word = take_word(head), version = take_word(head);
  if (std::string(word) + ' ' + std::string(version) != first_line || !take_word(head).empty())
    return failed_at(1, "a tuning file begins with " + quoted(first_line));
  std::vector<TuningRow> rows;
  std::vector<std::size_t> lines;  // of the rows
  for (std::size_t line = 2; !text.empty(); ++line) {
    const auto parsed = parse_line(take_line(text));
    if (!parsed) return failed_at(line, parsed.failure().message);
    if (!parsed.value()) continue;
    const TuningRow& row = *parsed.value();
    const auto same = std::find_if(rows.begin(), rows.end(),
                                   [&](const TuningRow& known) { return known.up_to == row.up_to; });
    if (same != rows.end())
      return failed_at(line, "line " + std::to_string(lines[static_cast<std::size_t>(same - rows.begin())]) +
                                 " is for the same: " + text_of(*same));
    rows.push_back(row);
    lines.push_back(line);
  }
  return Tuning(std::move(rows));
}

std::string format_tuning(const Tuning& tuning, std::string_view remarks) {
  std::string text = std::string(first_line) + '\n';
  while (!remarks.empty()) {
    const std::string_view line = remarks.substr(0, remarks.find('\n'));
    remarks.remove_prefix(std::min(line.size() + 1, remarks.size()));
    text += line.empty() ? "#\n" : "# " + std::string(line) + '\n';
  }
  text += std::string(columns) + '\n';
  for (const TuningRow& row : tuning.rows()) text += text_of(row) + '\n';
  return text;
}

}  // namespace parley::schedule
