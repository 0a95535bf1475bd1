#include "api/wireup/last_word.h"

#include <charconv>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <span>
#include <sstream>
#include <string_view>
#include <utility>

#include "api/wireup/round.h"
#include "api/wireup/world.h"
#include "transport/base/log.h"
#include "transport/base/threads.h"

namespace parley::wireup {
namespace {

constexpr auto word_patience = std::chrono::seconds(1);
constexpr auto patience_of_completions = std::chrono::milliseconds(100);

std::string word_key(const LastWords& where, int rank) {
  return where.prefix + std::to_string(rank);
}

// Nothing: there is no text.
std::optional<LastWord> parse(std::string_view text, const LastWords& where) {
  if (text.empty()) return std::nullopt;
  int culprit = -1;
  std::from_chars(text.data(), text.data() + text.size(), culprit);
  if (culprit < 0 || culprit >= where.world_size) return LastWord{};
  return LastWord{culprit};
}

// What the store says, for somebody who may have stopped waiting for it.
struct Answer {
  std::mutex mutex;
  std::condition_variable came;
  bool is_here = false;
  std::optional<std::string> text;  // nothing: the store could not be asked
};

// Empty when the store knows no such key; nothing when it is lost or does not answer in time. A store of
// another host takes seconds to be found silent, so that a thread of its own waits for it; the store lives as
// long.
std::optional<std::string> ask(std::shared_ptr<Store> store, std::string key,
                               std::chrono::nanoseconds within) {
  const auto answer = std::make_shared<Answer>();
  base::start_own_thread("lastword", [answer, store = std::move(store), key = std::move(key)]() noexcept {
    std::optional<std::string> text;
    try {
      text = read_text(*store, key, base::Deadline::after(word_patience));
    } catch (const std::exception&) {
      text.reset();
    }
    const std::lock_guard lock(answer->mutex);
    answer->text = std::move(text);
    answer->is_here = true;
    answer->came.notify_all();
  }).detach();
  std::unique_lock lock(answer->mutex);
  answer->came.wait_for(lock, within, [&] { return answer->is_here; });
  return answer->text;
}

}  // namespace

void leave_last_word(const World& world, std::optional<int> culprit) noexcept {
  const auto store = world.store.get();
  if (!world.on_demand || store == nullptr) return;
  try {
    store->set_string(word_key(world.last_words, world.rank),
                      culprit ? std::to_string(*culprit) : "in good order", word_patience);
    if (culprit)
      note_death(*store, world.last_words, {world.rank, *culprit}, base::Deadline::after(word_patience));
  } catch (const std::exception& error) {
    PARLEY_LOG(debug, "init", "no last word in the store: ", error.what());
  }
}

std::optional<LastWord> find_last_word(const World& world, int rank, Asker asker) noexcept {
  const auto store = world.store.get();
  if (!world.on_demand || store == nullptr) return std::nullopt;
  const bool in_a_hurry = asker == Asker::completion_function;
  // relaxed: the flag stands for itself.
  if (in_a_hurry && world.store_is_silent.load(std::memory_order_relaxed)) return std::nullopt;
  try {
    const auto text =
        ask(store, word_key(world.last_words, rank), in_a_hurry ? patience_of_completions : word_patience);
    world.store_is_silent.store(!text, std::memory_order_relaxed);
    return text ? parse(*text, world.last_words) : std::nullopt;
  } catch (const std::exception& error) {
    PARLEY_LOG(debug, "init", "no last word of rank ", rank, ": ", error.what());
    return std::nullopt;
  }
}

std::optional<LastWord> read_last_word(Store& store, const LastWords& where, int rank,
                                       base::Deadline deadline) {
  return parse(read_text(store, word_key(where, rank), deadline), where);
}

// One value, to which each note adds "RANK=CULPRIT ".
std::vector<Death> read_deaths(Store& store, const LastWords& where, base::Deadline deadline) {
  std::istringstream text(read_text(store, where.deaths_key, deadline));
  const auto is_rank = [&](int number) { return number >= 0 && number < where.world_size; };
  std::vector<Death> deaths;
  Death death;
  for (char sign = 0; text >> death.rank >> sign >> death.culprit;)
    if (is_rank(death.rank) && is_rank(death.culprit)) deaths.push_back(death);
  return deaths;
}

void note_death(Store& store, const LastWords& where, Death death, base::Deadline deadline) {
  const std::string note = base::concat(death.rank, '=', death.culprit, ' ');
  store.append(where.deaths_key, std::as_bytes(std::span(note)), deadline.remaining());
}

}  // namespace parley::wireup
