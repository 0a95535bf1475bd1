#include "api/wireup/roll_call.h"

#include <parley/error.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <span>

#include "api/wireup/rank_claim.h"
#include "api/wireup/world.h"
#include "transport/base/host.h"
#include "transport/base/log.h"

namespace parley::wireup {
RollCall::RollCall(Store& store, int rank, int world_size, base::Deadline deadline)
    : store_(store), rank_(rank), world_size_(world_size), deadline_(deadline) {
  prefix_ = base::concat("parley/", claim_rank(store, rank, world_size, deadline), "/");
  agree_on_size();
  for (int other = 0; other < world_size; ++other) card_keys_.push_back(key(base::concat("card/", other)));
}

std::string RollCall::key(std::string_view name) const {
  return base::concat(prefix_, name);
}

// The first rank's word stands.
void RollCall::agree_on_size() {
  const std::string own = base::concat(world_size_, " ranks, says rank ", rank_, " (", base::host_name(),
                                       ", pid ", getpid(), ")");
  const Store::Value agreed =
      store_.compare_set(key("size"), {}, std::as_bytes(std::span(own)), deadline_.remaining());
  const std::string first(reinterpret_cast<const char*>(agreed.data()), agreed.size());
  if (std::atoi(first.c_str()) == world_size_) return;
  ErrorDetails details;
  details.rank = rank_;
  details.operation = "init";
  throw InitError(base::concat("the ranks were started for worlds of different sizes: ", own, "; ", first),
                  details);
}

socket::JobId RollCall::agree_on_job() {
  socket::JobId job{};
  if (getrandom(job.data(), job.size(), 0) != static_cast<ssize_t>(job.size()))
    throw SystemError("getrandom() failed");
  // The first rank's proposal stands.
  const Store::Value agreed = store_.compare_set(key("job"), {}, job, deadline_.remaining());
  if (agreed.size() != job.size()) throw InitError("the store holds no valid job number");
  std::copy(agreed.begin(), agreed.end(), job.begin());
  return job;
}

std::string RollCall::missing_ranks() const {
  std::string missing;
  std::string present;
  for (int other = 0; other < world_size_; ++other) {
    const auto number = static_cast<std::size_t>(other);
    std::string& list = store_.check({&card_keys_[number], 1}) ? present : missing;
    list += (list.empty() ? "" : ", ") + std::to_string(other);
  }
  return base::concat("missing ranks: ", missing.empty() ? "none" : missing,
                      "; joined: ", present.empty() ? "none" : present);
}

std::vector<rendezvous::AddressCard> RollCall::exchange(const rendezvous::AddressCard& own,
                                                        const std::string& advice) {
  store_.set(card_keys_[static_cast<std::size_t>(rank_)], rendezvous::encode(own), deadline_.remaining());
  for (;;) {
    try {
      store_.wait(card_keys_, std::min<std::chrono::nanoseconds>(deadline_.remaining(), reminder_period));
      break;
    } catch (const StoreTimeoutError&) {
      if (deadline_.expired()) {
        ErrorDetails details;
        details.rank = rank_;
        details.operation = "init";
        throw InitError(base::concat("init timed out on rank ", rank_, " of ", world_size_, ": ",
                                     missing_ranks(), advice),
                        details);
      }
      PARLEY_LOG(warn, "init", "still waiting, ", missing_ranks());
    }
  }
  std::vector<rendezvous::AddressCard> cards;
  for (const auto& value : store_.multi_get(card_keys_, deadline_.remaining())) {
    auto card = rendezvous::decode_card(value);
    if (!card) throw InitError("a rank runs another version of Parley: its address card cannot be read");
    cards.push_back(std::move(*card));
  }
  return cards;
}

}  // namespace parley::wireup
