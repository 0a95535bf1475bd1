#include "api/wireup/round.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <span>
#include <vector>

#include "transport/base/log.h"

namespace parley::wireup {
namespace {

// Who is refused has its own error to report.
constexpr auto refusal_patience = std::chrono::seconds(1);
// A process that is restarted again and again leaves as many.
constexpr std::size_t most_refusal_bytes = 16 << 10;
constexpr std::size_t most_told = 4;

std::string refusals_key(std::int64_t round) {
  return round_key(round, "refused");
}

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

}  // namespace

std::string round_key(std::int64_t round, std::string_view name) {
  return base::concat("parley/", round, '/', name);
}

std::string exchange_text(Store& store, const std::string& key, std::string_view expected,
                          std::string_view desired, base::Deadline deadline) {
  const Store::Value now =
      store.compare_set(key, bytes_of(expected), bytes_of(desired), deadline.remaining());
  return {reinterpret_cast<const char*>(now.data()), now.size()};
}

std::string read_text(Store& store, const std::string& key, base::Deadline deadline) {
  return exchange_text(store, key, {}, {}, deadline);
}

void note_refusal(Store& store, std::int64_t round, std::string_view note) noexcept {
  try {
    const auto deadline = base::Deadline::after(refusal_patience);
    if (read_text(store, refusals_key(round), deadline).size() > most_refusal_bytes) return;
    store.append(refusals_key(round), bytes_of(base::concat(note, '\n')), deadline.remaining());
  } catch (const std::exception& error) {
    PARLEY_LOG(debug, "init", "no note of a refusal in the store: ", error.what());
  }
}

std::string read_refusals(Store& store, std::int64_t round, base::Deadline deadline) {
  const std::string text = read_text(store, refusals_key(round), deadline);
  std::vector<std::string> notes;
  for (std::size_t begin = 0, end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
    notes.push_back(text.substr(begin, end - begin));
  std::string told;
  for (std::size_t i = notes.size() - std::min(notes.size(), most_told); i < notes.size(); ++i)
    told += (told.empty() ? "" : "; ") + notes[i];
  return told;
}

}  // namespace parley::wireup
