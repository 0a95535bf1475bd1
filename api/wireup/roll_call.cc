#include "api/wireup/roll_call.h"

#include <parley/error.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <map>
#include <numeric>
#include <span>
#include <utility>

#include "api/wireup/attendance.h"
#include "api/wireup/round.h"
#include "api/wireup/world.h"
#include "transport/base/host.h"
#include "transport/base/log.h"
#include "transport/base/wire.h"

namespace parley::wireup {
namespace {

// While a roster waits to be confirmed: after this time there is a look for cards that were replaced, and
// after twice the time again, up to the reminder's period.
constexpr std::chrono::nanoseconds first_look_at_store = std::chrono::seconds(1);

constexpr std::size_t most_bytes_of_cards = std::size_t{512} << 10;

// Of a store that is slow or gone.
constexpr auto forgetting_patience = std::chrono::seconds(1);

constexpr const char* roster_key = "roster";
constexpr const char* list_key = "list";
constexpr const char* card_name = "card/";
constexpr const char* place_name = "place/";
// The latest round whose keys were removed; it and all before it are over.
constexpr const char* forgotten_key = "parley/forgotten";

template <typename T>
void draw(T& number) {
  const auto bytes = std::as_writable_bytes(std::span(&number, 1));
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw SystemError("getrandom() failed");
}

// 0 for a text that does not begin with one.
std::int64_t number_in(const std::string& text) {
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

[[noreturn]] void throw_another_version() {
  throw InitError("a rank runs another version of Parley: what it has put into the store cannot be read");
}

rendezvous::AddressCard decoded(const Store::Value& value) {
  auto card = rendezvous::decode_card(value);
  if (!card) throw_another_version();
  return *std::move(card);
}

// Beyond that a store may refuse the list (StoreLimits), and the ranks link on demand.
bool fit_in_a_list(const std::vector<rendezvous::AddressCard>& cards) {
  std::size_t bytes = 0;
  for (const auto& card : cards) bytes += rendezvous::encode(card).size();
  if (bytes <= most_bytes_of_cards) return true;
  PARLEY_LOG(warn, "init", "the addresses of all ranks have ", bytes, " B: the ranks link on demand");
  return false;
}

// By place.
std::vector<std::vector<Process>> processes_of(const Topology& topology,
                                               const std::vector<rendezvous::AddressCard>& cards) {
  std::vector<std::vector<Process>> places(topology.place_count());
  for (int rank = 0; rank < topology.size(); ++rank) {
    const auto& card = cards[static_cast<std::size_t>(rank)];
    places[topology.place_of(rank)].push_back({rank, card.pid, card.start});
  }
  return places;
}

std::string own_name() {
  return base::concat(base::host_name(), ", pid ", getpid());
}

}  // namespace

RollCall::RollCall(Store& store, int rank, int world_size, base::Deadline deadline)
    : store_(store), rank_(rank), world_size_(world_size), deadline_(deadline) {
  const std::int64_t forgotten = number_in(read_text(store, forgotten_key, deadline));
  const auto is_over = [&](std::int64_t round) {
    return round <= forgotten || !read_text(store, round_key(round, roster_key), deadline).empty();
  };
  turn_ = claim_rank(store, rank, world_size, is_over, deadline);
  try {
    agree_on_size();
  } catch (const Error&) {
    give_up_rank(store, rank);
    throw;
  }
}

std::string RollCall::key(std::string_view name) const {
  return round_key(turn_.round, name);
}

std::string RollCall::cards_prefix() const {
  return key(card_name);
}

// The first rank's word stands, while that rank is there: one that was started with a wrong size may come
// again.
void RollCall::agree_on_size() {
  const std::string own = base::concat(world_size_, " ranks, says rank ", rank_, " (", own_name(), ")");
  std::string expected;
  for (;;) {
    const std::string agreed = exchange_text(store_, key("size"), expected, own, deadline_);
    int size = 0;
    int sayer = 0;
    if (std::sscanf(agreed.c_str(), "%d ranks, says rank %d", &size, &sayer) != 2)
      throw InitError("the store holds no valid size of the world");
    if (size == world_size_) return;
    if (!is_held(store_, sayer, size, deadline_)) {
      expected = agreed;
      continue;
    }
    note_refusal(store_, turn_.round,
                 base::concat("rank ", rank_, " (", own_name(), ") came with world size ", world_size_));
    ErrorDetails details;
    details.rank = rank_;
    details.operation = "init";
    throw InitError(base::concat("the ranks were started for worlds of different sizes: ", own, "; ", agreed),
                    details);
  }
}

socket::JobId RollCall::agree_on_job() {
  socket::JobId job{};
  draw(job);
  // The first rank's proposal stands.
  const Store::Value agreed = store_.compare_set(key("job"), {}, job, deadline_.remaining());
  if (agreed.size() != job.size()) throw InitError("the store holds no valid job number");
  std::copy(agreed.begin(), agreed.end(), job.begin());
  return job;
}

void RollCall::publish(const rendezvous::AddressCard& own) {
  store_.set(key(base::concat(card_name, rank_)), rendezvous::encode(own), deadline_.remaining());
  // Rank 0, which may have read the card before, looks here.
  if (turn_.again) own_edition_ = store_.add(key("renewals"), 1, deadline_.remaining());
}

void RollCall::forget_older_rounds() noexcept {
  const std::int64_t round = turn_.round - 2;
  if (rank_ != 0 || round < 1) return;
  try {
    const auto deadline = earliest(deadline_, base::Deadline::after(forgetting_patience));
    const auto read = [&](const char* name) { return read_text(store_, round_key(round, name), deadline); };
    const std::int64_t size = number_in(read("size"));
    const std::string roster = read(roster_key);
    store_.set_string(forgotten_key, std::to_string(round), deadline.remaining());
    for (const char* name :
         {"size", "job", "renewals", "refused", "deaths", "groups/numbers", list_key, roster_key})
      store_.remove(round_key(round, name), deadline.remaining());
    std::vector<std::string> names{card_name, place_name, "left/"};  // at most as many places as ranks
    for (std::int64_t edition = 0; edition <= number_in(roster); ++edition)
      names.push_back(base::concat("confirmed/", edition, '/'));
    for (const std::string& name : names)
      for (std::int64_t rank = 0; rank < size; ++rank)
        store_.remove(round_key(round, base::concat(name, rank)), deadline.remaining());
  } catch (const std::exception& error) {
    PARLEY_LOG(debug, "init", "what round ", round, " left in the store stays there: ", error.what());
  }
}

std::vector<std::string> RollCall::keys_of_ranks(std::string_view name) const {
  std::vector<std::string> keys;
  for (int rank = 0; rank < world_size_; ++rank) keys.push_back(key(base::concat(name, rank)));
  return keys;
}

std::string RollCall::key_of_place(Topology::PlaceNumber place) const {
  return key(base::concat(place_name, place));
}

std::int64_t RollCall::renewals() {
  return store_.add(key("renewals"), 0, deadline_.remaining());
}

void RollCall::write(const Listing& listing, const std::vector<std::vector<Process>>& places) {
  std::vector<std::string> keys;
  std::vector<Store::Value> values;
  for (const std::vector<Process>& processes : places) {
    base::WireWriter writer;
    writer.put(listing.edition).put_bytes(encode(processes));
    keys.push_back(key_of_place(static_cast<Topology::PlaceNumber>(keys.size())));
    values.push_back(std::move(writer).bytes());
  }
  keys.push_back(key(list_key));
  values.push_back(encode(listing));
  store_.multi_set(keys, values, deadline_.remaining());
}

// REQUIRES: all cards are there.
std::optional<RollCall::Outcome> RollCall::make_list(std::int64_t latest, const Terms& terms) {
  // Read before the cards: one that is overwritten from here on counts again.
  const std::int64_t edition = renewals();
  if (edition == latest) return std::nullopt;
  std::vector<int> ranks(static_cast<std::size_t>(world_size_));
  std::iota(ranks.begin(), ranks.end(), 0);
  std::vector<rendezvous::AddressCard> cards = read_cards(store_, cards_prefix(), ranks, deadline_);
  Outcome outcome;
  outcome.listing = {edition, Topology(cards), {}, terms.review ? terms.review(cards) : std::nullopt};
  std::vector<std::vector<Process>> places;
  if (terms.all_cards && fit_in_a_list(cards)) {
    outcome.listing.cards = std::move(cards);
  } else {
    outcome.listing.cards.push_back(cards.front());
    places = processes_of(outcome.listing.topology, cards);
  }
  write(outcome.listing, places);
  if (!places.empty()) outcome.neighbours = std::move(places[outcome.listing.topology.place_of(rank_)]);
  return outcome;
}

// REQUIRES: the list is there.
std::optional<RollCall::Outcome> RollCall::read_list(std::int64_t latest) {
  for (;;) {
    auto listing = decode_listing(store_.get(key(list_key), deadline_.remaining()));
    if (!listing) throw_another_version();
    // One of another size was made for ranks that have given up since: rank 0 will make another.
    if (listing->edition == latest || listing->topology.size() != world_size_) return std::nullopt;
    if (listing->has_all_cards()) return Outcome{*std::move(listing), {}};
    const auto page = store_.get(key_of_place(listing->topology.place_of(rank_)), deadline_.remaining());
    base::WireReader reader(page);
    const auto edition = reader.get<std::int64_t>();
    const auto bytes = reader.get_bytes();
    auto processes = reader.finished() ? decode_processes(*bytes) : std::nullopt;
    if (!processes) throw_another_version();
    // Else rank 0 has written another list between the two.
    if (*edition == listing->edition) return Outcome{*std::move(listing), *std::move(processes)};
  }
}

std::optional<RollCall::Outcome> RollCall::exchange(const rendezvous::AddressCard& own, const Terms& terms) {
  publish(own);
  const bool makes_list = rank_ == 0;
  const auto cards = [this] { return keys_of_ranks(card_name); };
  const std::string own_card = key(base::concat(card_name, rank_));
  Attendance attendance(store_, rank_, world_size_, turn_.round, deadline_, terms.advice);
  if (makes_list)
    attendance.await(cards(), base::Deadline::never());
  else
    attendance.await_rank_0(key(list_key), own_card, cards, base::Deadline::never());
  std::map<std::int64_t, Outcome> confirmed;
  std::int64_t latest = -1;
  const auto confirmed_name = [&] { return base::concat("confirmed/", latest, '/'); };
  const auto confirmations = [&] { return keys_of_ranks(confirmed_name()); };
  for (auto look = first_look_at_store;;
       look = std::min<std::chrono::nanoseconds>(2 * look, reminder_period)) {
    if (auto news = makes_list ? make_list(latest, terms) : read_list(latest)) {
      latest = news->listing.edition;
      if (latest >= own_edition_) {
        confirmed.emplace(latest, *std::move(news));
        store_.set_string(key(base::concat(confirmed_name(), rank_)), "yes", deadline_.remaining());
      }
    }
    std::string made;
    if (makes_list) {
      const bool by_all = attendance.await(confirmations(), base::Deadline::after(look));
      made = exchange_text(store_, key(roster_key), {}, by_all ? std::to_string(latest) : "", deadline_);
    } else {
      const Attendance::Keys whom =
          confirmed.contains(latest) ? Attendance::Keys(confirmations) : Attendance::Keys(cards);
      if (attendance.await_rank_0(key(roster_key), own_card, whom, base::Deadline::after(look)))
        made = store_.get_string(key(roster_key), deadline_.remaining());
    }
    if (made.empty()) continue;
    const auto ours = confirmed.find(number_in(made));
    if (ours == confirmed.end()) return std::nullopt;
    return std::move(ours->second);
  }
}

std::vector<rendezvous::AddressCard> read_cards(Store& store, const std::string& prefix,
                                                std::span<const int> ranks, base::Deadline deadline) {
  std::vector<std::string> keys;
  for (const int rank : ranks) keys.push_back(base::concat(prefix, rank));
  std::vector<rendezvous::AddressCard> cards;
  for (const auto& value : store.multi_get(keys, deadline.remaining())) cards.push_back(decoded(value));
  return cards;
}

}  // namespace parley::wireup
