#include "api/wireup/lookout.h"

#include <parley/store.h>

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <limits>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "api/wireup/last_word.h"
#include "api/wireup/own_card.h"
#include "api/wireup/roll_call.h"
#include "api/wireup/world.h"
#include "transport/base/log.h"
#include "transport/base/threads.h"

namespace parley::wireup {

using base::Code;
using transport::Messenger;
using transport::Peer;
using transport::PeerState;

namespace {

// Of two looks of one rank.
constexpr std::chrono::nanoseconds base_period = std::chrono::seconds(1);
// More while it waits, for each rank: a thousand that wait ask the store 250 times a second together.
constexpr std::chrono::nanoseconds period_per_rank = std::chrono::milliseconds(3);
// For one look at the store.
constexpr auto look_patience = std::chrono::seconds(1);
// Other places that a waiting rank links to; in larger jobs those behind it in the order of ranks.
constexpr std::size_t most_places = 256;

// What became of a rank.
struct Fate {
  int rank = 0;
  Code how = Code::peer_died;  // or peer_left
  int culprit = 0;             // see Death
};

// The others of our place, the next one first.
std::vector<Process> neighbours_of(const World& world) {
  std::vector<Process> neighbours = world.roster->neighbours();
  std::erase_if(neighbours, [&](const Process& process) { return process.rank == world.rank; });
  const auto steps_to = [&](const Process& process) {
    return (process.rank - world.rank + world.size) % world.size;
  };
  std::sort(neighbours.begin(), neighbours.end(),
            [&](const Process& a, const Process& b) { return steps_to(a) < steps_to(b); });
  return neighbours;
}

// The ranks of the other places, in the order of their first ranks behind ours.
std::vector<std::vector<int>> other_places(const World& world) {
  const Topology& topology = world.roster->topology();
  constexpr auto none = std::numeric_limits<std::size_t>::max();
  std::vector<std::size_t> index(topology.place_count(), none);
  std::vector<std::vector<int>> places;
  for (int step = 1; step < world.size; ++step) {
    const int rank = (world.rank + step) % world.size;
    const auto place = topology.place_of(rank);
    if (place == topology.place_of(world.rank)) continue;
    if (index[place] == none && places.size() < most_places) {
      index[place] = places.size();
      places.emplace_back();
    }
    if (index[place] != none) places[index[place]].push_back(rank);
  }
  return places;
}

// In this state, and its record was ever needed.
bool is(PeerState state, const Messenger& messenger, int rank) {
  const auto number = static_cast<std::uint32_t>(rank);
  return messenger.known_peers().is_made(number) && messenger.peer(number).state == state;
}

bool is_unmet(const Messenger& messenger, int rank) {
  return !messenger.known_peers().is_made(static_cast<std::uint32_t>(rank)) ||
         is(PeerState::expected, messenger, rank);
}

}  // namespace

// What this object and its thread share.
struct Lookout::Desk {
  // Set before the thread starts.
  std::weak_ptr<Store> store;
  LastWords last_words;
  std::string cards_prefix;
  std::shared_ptr<Roster> roster;
  std::vector<Process> neighbours;

  std::mutex mutex;  // of what follows
  std::condition_variable changed;
  bool is_over = false;
  bool is_busy = false;                      // the thread may be using the store
  std::optional<std::vector<int>> question;  // who do not answer a dial, and: whose deaths are known?
  std::vector<Fate> answers;                 // not told yet

  // The thread's own.
  std::size_t next_neighbour = 0;
  std::vector<bool> is_settled;  // by rank: the others can know what became of it

  void work() noexcept;
  std::vector<Fate> look(const std::optional<std::vector<int>>& asked) noexcept;
  std::vector<Fate> find_fates(const std::vector<int>& gone);
  Fate inquire(Store& open_store, int rank, base::Deadline deadline);
  void learn_names(Store& open_store, const std::vector<Fate>& fates, base::Deadline deadline);
  [[nodiscard]] bool has_died(int rank) const;
};

void Lookout::Desk::work() noexcept {
  std::unique_lock lock(mutex);
  for (;;) {
    changed.wait_for(lock, base_period, [&] { return is_over || question; });
    if (is_over) return;
    const auto asked = std::exchange(question, std::nullopt);
    is_busy = true;
    lock.unlock();
    auto found = look(asked);
    lock.lock();
    is_busy = false;
    if (asked) answers = std::move(found);
    changed.notify_all();
  }
}

// At the next one of our place, and at what is asked for.
std::vector<Fate> Lookout::Desk::look(const std::optional<std::vector<int>>& asked) noexcept try {
  std::vector<int> gone = asked.value_or(std::vector<int>());
  if (!neighbours.empty()) {
    const Process& next = neighbours[next_neighbour++ % neighbours.size()];
    const bool is_news = !is_settled[static_cast<std::size_t>(next.rank)] && has_ended(next.pid, next.start);
    if (is_news) gone.push_back(next.rank);
  }
  return gone.empty() && !asked ? std::vector<Fate>() : find_fates(gone);
} catch (const std::exception& error) {
  PARLEY_LOG(debug, "init", "it is not known what became of some ranks: ", error.what());
  // A rank 0 that serves the store leaves after its clients. If both are gone, it has died.
  if (!asked || !has_died(0)) return {};
  return {{0, Code::peer_died, 0}};
}

// Whether it is seen that this rank's process has ended.
bool Lookout::Desk::has_died(int rank) const {
  return std::any_of(neighbours.begin(), neighbours.end(), [rank](const Process& one) {
    return one.rank == rank && has_ended(one.pid, one.start);
  });
}

// Of these ranks, which are no more, and of all whose deaths are known.
std::vector<Fate> Lookout::Desk::find_fates(const std::vector<int>& gone) {
  std::vector<Fate> found;
  const auto open_store = store.lock();
  if (open_store == nullptr) return found;
  const auto deadline = base::Deadline::after(look_patience);
  for (const Death& death : read_deaths(*open_store, last_words, deadline))
    found.push_back({death.rank, Code::peer_died, death.culprit});
  for (const int rank : gone) {
    const auto is_it = [rank](const Fate& fate) { return fate.rank == rank; };
    if (std::none_of(found.begin(), found.end(), is_it))
      found.push_back(inquire(*open_store, rank, deadline));
  }
  learn_names(*open_store, found, deadline);
  return found;
}

// Of the dead whose processes are not known.
void Lookout::Desk::learn_names(Store& open_store, const std::vector<Fate>& fates,
                                base::Deadline deadline) try {
  std::vector<int> ranks;
  for (const Fate& fate : fates)
    if (fate.how == Code::peer_died && roster->pid_of(fate.culprit) == 0) ranks.push_back(fate.culprit);
  if (ranks.empty()) return;
  auto cards = read_cards(open_store, cards_prefix, ranks, deadline);
  for (std::size_t i = 0; i < ranks.size(); ++i) roster->learn(ranks[i], std::move(cards[i]));
} catch (const std::exception& error) {
  PARLEY_LOG(debug, "init", "errors name no processes of some ranks: ", error.what());
}

// What became of a rank that is no more and not on the list. If it died, it is now; but what only does not
// answer our dial may answer others.
Fate Lookout::Desk::inquire(Store& open_store, int rank, base::Deadline deadline) {
  // A process leaves its word before it ends.
  const bool is_seen_dead = has_died(rank);
  const auto word = read_last_word(open_store, last_words, rank, deadline);
  if (!word && is_seen_dead) note_death(open_store, last_words, {rank, rank}, deadline);
  if (word || is_seen_dead) is_settled[static_cast<std::size_t>(rank)] = true;
  const bool is_in_good_order = word && !word->culprit;
  const int culprit = word ? word->culprit.value_or(rank) : rank;
  return {rank, is_in_good_order ? Code::peer_left : Code::peer_died, culprit};
}

Lookout::Lookout(World& world)
    : rank_(world.rank),
      period_(base_period + world.size * period_per_rank),
      sees_rank_0_(world.roster->topology().share_place(0, world.rank)),
      others_(other_places(world)),
      desk_(std::make_shared<Desk>()) {
  desk_->store = world.store.get();
  desk_->last_words = world.last_words;
  desk_->cards_prefix = world.cards_prefix;
  desk_->roster = world.roster;
  desk_->neighbours = neighbours_of(world);
  desk_->is_settled.resize(static_cast<std::size_t>(world.size));
  try {
    thread_ = base::start_own_thread("lookout", [desk = desk_] { desk->work(); });
  } catch (const std::exception& error) {
    PARLEY_LOG(warn, "init", "receives from any source hear only of ranks that are linked: ", error.what());
    return;
  }
  world.engine->locked(
      [this](Messenger& messenger) { messenger.set_search([this, &messenger] { search(messenger); }); });
}

Lookout::~Lookout() {
  stop();
}

void Lookout::stop() noexcept {
  std::unique_lock lock(desk_->mutex);
  desk_->is_over = true;
  desk_->changed.notify_all();
  std::thread thread = std::move(thread_);  // whoever comes next finds none
  if (!thread.joinable()) return;
  const bool is_idle = desk_->changed.wait_for(lock, look_patience, [this] { return !desk_->is_busy; });
  lock.unlock();
  if (is_idle)
    thread.join();
  else
    thread.detach();
}

// With the engine's lock held.
void Lookout::search(Messenger& messenger) noexcept try {
  std::vector<Fate> fates;
  {
    const std::lock_guard lock(desk_->mutex);
    if (desk_->is_over) return;
    fates.swap(desk_->answers);
  }
  for (const Fate& fate : fates)
    messenger.note_fate(static_cast<std::uint32_t>(fate.rank), fate.how,
                        static_cast<std::uint32_t>(fate.culprit));
  const auto now = base::Clock::now();
  if (now < next_search_) return;
  next_search_ = now + period_;
  if (ask(messenger)) keep_in_touch(messenger);
} catch (const std::exception&) {  // out of memory: the next look may find some
}

// Has the thread find out about those to whom there is no link. False: there is nobody.
bool Lookout::ask(const Messenger& messenger) {
  std::vector<int> gone;
  const transport::PeerTable& peers = messenger.known_peers();
  bool all_met = peers.made() == peers.size();
  for (const Peer& peer : peers) {
    if (peer.state == PeerState::expected) all_met = false;
    const bool is_gone = peer.state == PeerState::down && peer.reason.code() == Code::gone;
    if (is_gone) gone.push_back(static_cast<int>(peer.number));
  }
  if (all_met && gone.empty()) return false;
  const std::lock_guard lock(desk_->mutex);
  desk_->question = std::move(gone);
  desk_->changed.notify_all();
  return true;
}

// Links to a rank of each other place, and to a rank 0 that is not of ours.
void Lookout::keep_in_touch(Messenger& messenger) const {
  if (!sees_rank_0_ && is_unmet(messenger, 0)) messenger.await_peer(0);
  for (const Place& place : others_) {
    const bool has_link =
        std::any_of(place.begin(), place.end(), [&](int rank) { return is(PeerState::up, messenger, rank); });
    if (has_link) continue;
    // Not all choose the same one.
    const auto offset = static_cast<std::size_t>(rank_) % place.size();
    for (std::size_t i = 0; i < place.size(); ++i) {
      const int rank = place[(offset + i) % place.size()];
      if (!is_unmet(messenger, rank)) continue;
      messenger.await_peer(static_cast<std::uint32_t>(rank));
      break;
    }
  }
}

}  // namespace parley::wireup
