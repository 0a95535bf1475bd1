#include "api/wireup/rank_claim.h"

#include <parley/error.h>
#include <unistd.h>

#include <span>
#include <sstream>
#include <string>

#include "transport/base/host.h"
#include "transport/base/log.h"

namespace parley::wireup {
namespace {

// Who has a rank. Kept in the store as one line.
struct Claim {
  std::int64_t turn = 0;
  bool is_given_up = false;
  int world_size = 0;
  std::int64_t pid = 0;
  std::string start;
  std::string host_id;
  std::string host;

  [[nodiscard]] bool is_ours() const {
    return pid == getpid() && host_id == base::host_id() && start == base::process_start(pid);
  }
  // Nothing can be known of a process of another host.
  [[nodiscard]] bool is_over() const {
    return is_given_up || (host_id == base::host_id() && base::process_start(pid) != start);
  }
};

Claim own_claim(std::int64_t turn, int world_size) {
  return {
      turn, false, world_size, getpid(), base::process_start(getpid()), base::host_id(), base::host_name()};
}

std::string encode(const Claim& claim) {
  return base::concat(claim.turn, ' ', claim.is_given_up ? "free" : "held", ' ', claim.world_size, ' ',
                      claim.pid, ' ', claim.start, ' ', claim.host_id, ' ', claim.host);
}

Claim decode(const std::string& text) {
  std::istringstream fields(text);
  Claim claim;
  std::string state;
  fields >> claim.turn >> state >> claim.world_size >> claim.pid >> claim.start >> claim.host_id >>
      claim.host;
  if (!fields || claim.turn < 1) throw InitError("the store holds no valid claim of a rank");
  claim.is_given_up = state == "free";
  return claim;
}

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

std::string key_of(int rank) {
  return base::concat("parley/rank/", rank);
}

std::string exchange(Store& store, int rank, const std::string& expected, const std::string& desired,
                     base::Deadline deadline) {
  const Store::Value now =
      store.compare_set(key_of(rank), bytes_of(expected), bytes_of(desired), deadline.remaining());
  return {reinterpret_cast<const char*>(now.data()), now.size()};
}

[[noreturn]] void refuse(const Claim& other, const Claim& own, int rank) {
  ErrorDetails details;
  details.rank = rank;
  details.peer = rank;
  details.operation = "init";
  details.host = other.host;
  details.pid = other.pid;
  const auto named = [](const Claim& claim) {
    return base::concat(claim.host, ", pid ", claim.pid, ", world of ", claim.world_size);
  };
  throw InitError(base::concat("rank ", rank, " is taken: by another process (", named(other),
                               "); this one (", named(own), ") needs a rank of its own"),
                  details);
}

}  // namespace

std::int64_t claim_rank(Store& store, int rank, int world_size, base::Deadline deadline) {
  std::string current = exchange(store, rank, {}, {}, deadline);
  for (;;) {
    std::int64_t turn = 1;
    if (!current.empty()) {
      const Claim holder = decode(current);
      if (!holder.is_ours() && !holder.is_over()) refuse(holder, own_claim(1, world_size), rank);
      turn = holder.turn + 1;
    }
    const std::string own = encode(own_claim(turn, world_size));
    const std::string now = exchange(store, rank, current, own, deadline);
    if (now == own) return turn;
    current = now;  // somebody else was faster
  }
}

void give_up_rank(Store& store, int rank, base::Deadline deadline) {
  const std::string current = exchange(store, rank, {}, {}, deadline);
  if (current.empty()) return;
  Claim claim = decode(current);
  if (!claim.is_ours()) return;
  claim.is_given_up = true;
  exchange(store, rank, current, encode(claim), deadline);
}

}  // namespace parley::wireup
