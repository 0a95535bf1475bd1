#include "api/wireup/last_word.h"

#include <charconv>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <string>
#include <utility>

#include "api/wireup/round.h"
#include "transport/base/log.h"
#include "transport/base/threads.h"

namespace parley::wireup {
namespace {

constexpr auto patience = std::chrono::seconds(1);
constexpr auto patience_of_completions = std::chrono::milliseconds(100);

std::string key_of(const World& world, int rank) {
  return world.last_word_prefix + std::to_string(rank);
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
      text = read_text(*store, key, base::Deadline::after(patience));
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
    store->set_string(key_of(world, world.rank), culprit ? std::to_string(*culprit) : "in good order",
                      patience);
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
    const auto text = ask(store, key_of(world, rank), in_a_hurry ? patience_of_completions : patience);
    world.store_is_silent.store(!text, std::memory_order_relaxed);
    if (!text || text->empty()) return std::nullopt;
    int culprit = -1;
    std::from_chars(text->data(), text->data() + text->size(), culprit);
    if (culprit < 0 || culprit >= world.size) return LastWord{};
    return LastWord{culprit};
  } catch (const std::exception& error) {
    PARLEY_LOG(debug, "init", "no last word of rank ", rank, ": ", error.what());
    return std::nullopt;
  }
}

}  // namespace parley::wireup
