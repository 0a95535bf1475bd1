#include "api/wireup/roll_call.h"

#include <parley/error.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <map>
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
constexpr std::chrono::nanoseconds first_look = std::chrono::seconds(1);

// Of a store that is slow or gone.
constexpr auto forgetting_patience = std::chrono::seconds(1);

constexpr const char* roster_key = "roster";
// The latest round whose keys were removed; it and all before it are over.
constexpr const char* forgotten_key = "parley/forgotten";

template <typename T>
void draw(T& number) {
  const auto bytes = std::as_writable_bytes(std::span(&number, 1));
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw SystemError("getrandom() failed");
}

// Spreads `number` over what was there (splitmix64's mixing).
std::uint64_t mix(std::uint64_t hash, std::uint64_t number) {
  hash ^= number;
  hash = (hash ^ (hash >> 30)) * 0xBF58476D1CE4E5B9U;
  hash = (hash ^ (hash >> 27)) * 0x94D049BB133111EBU;
  return hash ^ (hash >> 31);
}

// 0 for a text that does not begin with one.
std::int64_t number_in(const std::string& text) {
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
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
  std::uint64_t number = 0;
  draw(number);
  base::WireWriter writer;
  writer.put(number).put_bytes(rendezvous::encode(own));
  store_.set(key(base::concat("card/", rank_)), std::move(writer).bytes(), deadline_.remaining());
  // Those who have read the card before look here.
  if (turn_.again) store_.add(key("renewals"), 1, deadline_.remaining());
}

void RollCall::forget_older_rounds() noexcept {
  const std::int64_t round = turn_.round - 2;
  if (rank_ != 0 || round < 1) return;
  try {
    const auto deadline = earliest(deadline_, base::Deadline::after(forgetting_patience));
    const std::int64_t size = number_in(read_text(store_, round_key(round, "size"), deadline));
    const std::string roster = read_text(store_, round_key(round, roster_key), deadline);
    store_.set_string(forgotten_key, std::to_string(round), deadline.remaining());
    for (const char* name : {"size", "job", "renewals", "refused", "deaths", "groups/numbers", roster_key})
      store_.remove(round_key(round, name), deadline.remaining());
    for (std::int64_t rank = 0; rank < size; ++rank)
      for (const std::string& name :
           {std::string("card/"), "confirmed/" + roster + '/', std::string("left/")})
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

std::int64_t RollCall::renewals() {
  return store_.add(key("renewals"), 0, deadline_.remaining());
}

// REQUIRES: all cards are there.
RollCall::Roster RollCall::read_roster() {
  Roster roster;
  std::uint64_t hash = mix(0, static_cast<std::uint64_t>(world_size_));
  for (const auto& value : store_.multi_get(keys_of_ranks("card/"), deadline_.remaining())) {
    base::WireReader reader(value);
    const auto number = reader.get<std::uint64_t>();
    const auto bytes = reader.get_bytes();
    auto card = reader.finished() ? rendezvous::decode_card(*bytes) : std::nullopt;
    if (!card) throw InitError("a rank runs another version of Parley: its address card cannot be read");
    hash = mix(hash, *number);
    roster.cards.push_back(std::move(*card));
  }
  roster.name = std::to_string(hash);
  return roster;
}

std::optional<std::vector<rendezvous::AddressCard>> RollCall::exchange(const rendezvous::AddressCard& own,
                                                                       const std::string& advice) {
  publish(own);
  Attendance attendance(store_, rank_, world_size_, turn_.round, deadline_, advice);
  attendance.await(keys_of_ranks("card/"), base::Deadline::never());
  std::map<std::string, std::vector<rendezvous::AddressCard>> confirmed;
  std::string name;
  std::vector<std::string> confirmations;
  std::int64_t renewals_seen = -1;
  for (auto look = first_look;; look = std::min<std::chrono::nanoseconds>(2 * look, reminder_period)) {
    // Read before the cards: one that is overwritten from here on counts again.
    if (const std::int64_t now = renewals(); now != renewals_seen) {
      renewals_seen = now;
      Roster roster = read_roster();
      name = roster.name;
      confirmations = keys_of_ranks("confirmed/" + name + '/');
      confirmed.emplace(name, std::move(roster.cards));
      store_.set_string(confirmations[static_cast<std::size_t>(rank_)], "yes", deadline_.remaining());
    }
    const bool by_all = attendance.await(confirmations, base::Deadline::after(look));
    const std::string made = exchange_text(store_, key(roster_key), {}, by_all ? name : "", deadline_);
    if (made.empty()) continue;
    const auto ours = confirmed.find(made);
    if (ours == confirmed.end()) return std::nullopt;
    return std::move(ours->second);
  }
}

}  // namespace parley::wireup
