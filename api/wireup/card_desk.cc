#include "api/wireup/card_desk.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <utility>
#include <vector>

#include "api/wireup/roll_call.h"
#include "transport/base/log.h"
#include "transport/base/threads.h"

namespace parley::wireup {
namespace {

// For the cards that are read together.
constexpr auto reading_patience = std::chrono::seconds(5);
// Of stop() with a store that is slow.
constexpr auto patience_at_end = std::chrono::seconds(1);

}  // namespace

struct CardDesk::State {
  enum class Doing : std::uint8_t { nothing, asking, delivering };

  const std::weak_ptr<Store> store;
  const std::string prefix;
  const std::shared_ptr<Roster> roster;
  const Deliver deliver;

  std::mutex mutex;  // of what follows
  std::condition_variable changed;
  std::vector<int> wanted;  // next; each once, in order
  Doing doing = Doing::nothing;
  bool is_over = false;

  void work() noexcept;
  [[nodiscard]] std::string read(std::span<const int> ranks) const noexcept;
};

void CardDesk::State::work() noexcept {
  std::unique_lock lock(mutex);
  for (;;) {
    changed.wait(lock, [this] { return is_over || !wanted.empty(); });
    if (is_over) return;
    const std::vector<int> ranks = std::exchange(wanted, {});
    doing = Doing::asking;
    lock.unlock();
    const std::string why = read(ranks);
    lock.lock();
    if (!is_over) {
      doing = Doing::delivering;
      lock.unlock();
      deliver(ranks, why);
      lock.lock();
    }
    doing = Doing::nothing;
    changed.notify_all();
  }
}

// Why they are not known; empty: they are.
std::string CardDesk::State::read(std::span<const int> ranks) const noexcept try {
  const auto open_store = store.lock();
  if (open_store == nullptr) return "the store with its address is closed";
  auto cards = read_cards(*open_store, prefix, ranks, base::Deadline::after(reading_patience));
  for (std::size_t i = 0; i < ranks.size(); ++i) roster->learn(ranks[i], std::move(cards[i]));
  return {};
} catch (const std::exception& error) {
  return base::concat("its address cannot be read from the store: ", error.what());
}

CardDesk::CardDesk(std::weak_ptr<Store> store, std::string prefix, std::shared_ptr<Roster> roster,
                   Deliver deliver)
    : state_(new State{.store = std::move(store),
                       .prefix = std::move(prefix),
                       .roster = std::move(roster),
                       .deliver = std::move(deliver),
                       .mutex = {},
                       .changed = {},
                       .wanted = {}}) {}

CardDesk::~CardDesk() {
  stop();
}

void CardDesk::want(int rank) {
  const std::lock_guard lock(state_->mutex);
  if (state_->is_over) return;
  if (!thread_.joinable()) thread_ = base::start_own_thread("cards", [state = state_] { state->work(); });
  auto& wanted = state_->wanted;
  const auto place = std::lower_bound(wanted.begin(), wanted.end(), rank);
  if (place == wanted.end() || *place != rank) wanted.insert(place, rank);
  state_->changed.notify_all();
}

void CardDesk::stop() noexcept {
  using Doing = State::Doing;
  std::unique_lock lock(state_->mutex);
  state_->is_over = true;
  state_->changed.notify_all();
  std::thread thread = std::move(thread_);  // whoever comes next finds none
  // Who delivers uses what our caller takes down next; that is short.
  state_->changed.wait(lock, [this] { return state_->doing != Doing::delivering; });
  if (!thread.joinable()) return;
  const bool is_idle =
      state_->changed.wait_for(lock, patience_at_end, [this] { return state_->doing == Doing::nothing; });
  lock.unlock();
  if (is_idle)
    thread.join();
  else
    thread.detach();
}

}  // namespace parley::wireup
