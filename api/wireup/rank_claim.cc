#include "api/wireup/rank_claim.h"

#include <parley/error.h>

#include <chrono>
#include <exception>
#include <sstream>
#include <string>

#include "api/wireup/own_card.h"
#include "api/wireup/round.h"
#include "transport/base/log.h"

namespace parley::wireup {
namespace {

// Who is asked only to fail sooner is not waited for longer.
constexpr auto claim_patience = std::chrono::seconds(1);

// Who has a rank. Kept in the store as one line.
struct Claim {
  std::int64_t round = 0;
  bool is_given_up = false;
  int world_size = 0;
  rendezvous::AddressCard process;  // without addresses and cores

  [[nodiscard]] bool is_ours() const { return is_same_process(process, own_card()); }
  // Nothing can be known of a process of another host or PID namespace.
  [[nodiscard]] bool is_gone() const { return is_given_up || is_dead(process); }
};

Claim own_claim(std::int64_t round, int world_size) {
  return {round, false, world_size, own_card()};
}

std::string encode(const Claim& claim) {
  const auto& process = claim.process;
  return base::concat(claim.round, ' ', claim.is_given_up ? "free" : "held", ' ', claim.world_size, ' ',
                      process.pid, ' ', process.start, ' ', process.host_id, ' ', process.pid_namespace, ' ',
                      process.host);
}

Claim decode(const std::string& text) {
  std::istringstream fields(text);
  Claim claim;
  std::string state;
  auto& process = claim.process;
  fields >> claim.round >> state >> claim.world_size >> process.pid >> process.start >> process.host_id >>
      process.pid_namespace >> process.host;
  if (!fields || claim.round < 1) throw InitError("the store holds no valid claim of a rank");
  claim.is_given_up = state == "free";
  return claim;
}

std::string claim_key(int rank) {
  return base::concat("parley/rank/", rank);
}

[[noreturn]] void refuse(Store& store, const Claim& other, const Claim& own, int rank) {
  ErrorDetails details;
  details.rank = rank;
  details.peer = rank;
  details.operation = "init";
  details.host = other.process.host;
  details.pid = other.process.pid;
  const auto named = [](const Claim& claim) {
    return base::concat(claim.process.host, ", pid ", claim.process.pid, ", world of ", claim.world_size);
  };
  note_refusal(store, other.round, base::concat("another process (", named(own), ") came as rank ", rank));
  throw InitError(base::concat("rank ", rank, " is taken: by another process (", named(other),
                               "); this one (", named(own), ") needs a rank of its own"),
                  details);
}

}  // namespace

Turn claim_rank(Store& store, int rank, int world_size, const std::function<bool(std::int64_t)>& is_over,
                base::Deadline deadline) {
  std::string current = read_text(store, claim_key(rank), deadline);
  for (;;) {
    Turn turn;
    if (!current.empty()) {
      const Claim holder = decode(current);
      if (!holder.is_ours() && !holder.is_gone()) refuse(store, holder, own_claim(1, world_size), rank);
      turn = {holder.round, true};
    }
    for (; is_over(turn.round); ++turn.round) turn.again = false;
    const std::string own = encode(own_claim(turn.round, world_size));
    const std::string now = exchange_text(store, claim_key(rank), current, own, deadline);
    if (now == own) return turn;
    current = now;  // somebody else was faster
  }
}

bool is_held(Store& store, int rank, int world_size, base::Deadline deadline) {
  const std::string text = read_text(store, claim_key(rank), deadline);
  if (text.empty()) return false;
  const Claim holder = decode(text);
  return !holder.is_gone() && holder.world_size == world_size;
}

namespace {

std::string why_absent(const rendezvous::AddressCard& card, const Claim& claim) {
  if (!is_same_process(claim.process, card)) return "another process has come for its rank";
  return claim.is_given_up ? "it has given up its rank" : "";
}

// Texts of the claims of these ranks; empty when the store does not answer.
std::vector<Store::Value> read_claims(Store* store, const std::vector<int>& ranks) {
  if (store == nullptr) return {};
  std::vector<std::string> keys;
  for (const int rank : ranks) keys.push_back(claim_key(rank));
  try {
    return store->multi_get(keys, claim_patience);
  } catch (const StoreError& error) {
    PARLEY_LOG(debug, "init", "the store does not tell who has which rank: ", error.what());
    return {};
  }
}

}  // namespace

std::vector<Absentee> find_absentees(Store* store, const Roster& roster, const std::vector<int>& ranks) {
  std::vector<Absentee> absentees;
  for (const int rank : ranks)
    if (is_dead(roster.card(rank).value())) absentees.push_back({rank, "its process is dead"});
  if (!absentees.empty()) return absentees;
  const auto claims = read_claims(store, ranks);
  for (std::size_t i = 0; i < claims.size(); ++i) {
    const std::string text(reinterpret_cast<const char*>(claims[i].data()), claims[i].size());
    const auto why = why_absent(roster.card(ranks[i]).value(), decode(text));
    if (!why.empty()) absentees.push_back({ranks[i], why});
  }
  return absentees;
}

void give_up_rank(Store& store, int rank) noexcept {
  try {
    const auto deadline = base::Deadline::after(std::chrono::seconds(1));
    const std::string current = read_text(store, claim_key(rank), deadline);
    if (current.empty()) return;
    Claim claim = decode(current);
    if (!claim.is_ours()) return;
    claim.is_given_up = true;
    exchange_text(store, claim_key(rank), current, encode(claim), deadline);
  } catch (const std::exception& error) {
    PARLEY_LOG(debug, "init", "rank ", rank, " was not given up in the store: ", error.what());
  }
}

}  // namespace parley::wireup
