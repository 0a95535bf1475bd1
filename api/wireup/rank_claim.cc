#include "api/wireup/rank_claim.h"

#include <parley/error.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <exception>
#include <sstream>
#include <string>

#include "api/wireup/round.h"
#include "transport/base/host.h"
#include "transport/base/log.h"

namespace parley::wireup {
namespace {

// Where our process numbers mean something: a process of another container may have the same number, or none
// that we can see, on the same host.
std::string pid_namespace() {
  struct stat pids {};
  return stat("/proc/self/ns/pid", &pids) == 0 ? std::to_string(pids.st_ino) : "unknown";
}

// Who has a rank. Kept in the store as one line.
struct Claim {
  std::int64_t round = 0;
  bool is_given_up = false;
  int world_size = 0;
  std::int64_t pid = 0;
  std::string start;
  std::string host_id;
  std::string pid_namespace;
  std::string host;

  [[nodiscard]] bool is_of_here() const {
    return host_id == base::host_id() && pid_namespace == wireup::pid_namespace();
  }
  [[nodiscard]] bool is_ours() const {
    return pid == getpid() && is_of_here() && start == base::process_start(pid);
  }
  // Nothing can be known of a process of another host or PID namespace.
  [[nodiscard]] bool is_gone() const {
    return is_given_up || (is_of_here() && base::process_start(pid) != start);
  }
};

Claim own_claim(std::int64_t round, int world_size) {
  return {round,           false,           world_size,       getpid(), base::process_start(getpid()),
          base::host_id(), pid_namespace(), base::host_name()};
}

std::string encode(const Claim& claim) {
  return base::concat(claim.round, ' ', claim.is_given_up ? "free" : "held", ' ', claim.world_size, ' ',
                      claim.pid, ' ', claim.start, ' ', claim.host_id, ' ', claim.pid_namespace, ' ',
                      claim.host);
}

Claim decode(const std::string& text) {
  std::istringstream fields(text);
  Claim claim;
  std::string state;
  fields >> claim.round >> state >> claim.world_size >> claim.pid >> claim.start >> claim.host_id >>
      claim.pid_namespace >> claim.host;
  if (!fields || claim.round < 1) throw InitError("the store holds no valid claim of a rank");
  claim.is_given_up = state == "free";
  return claim;
}

std::string key_of(int rank) {
  return base::concat("parley/rank/", rank);
}

[[noreturn]] void refuse(Store& store, const Claim& other, const Claim& own, int rank) {
  ErrorDetails details;
  details.rank = rank;
  details.peer = rank;
  details.operation = "init";
  details.host = other.host;
  details.pid = other.pid;
  const auto named = [](const Claim& claim) {
    return base::concat(claim.host, ", pid ", claim.pid, ", world of ", claim.world_size);
  };
  note_refusal(store, other.round, base::concat("another process (", named(own), ") came as rank ", rank));
  throw InitError(base::concat("rank ", rank, " is taken: by another process (", named(other),
                               "); this one (", named(own), ") needs a rank of its own"),
                  details);
}

}  // namespace

Turn claim_rank(Store& store, int rank, int world_size, const std::function<bool(std::int64_t)>& is_over,
                base::Deadline deadline) {
  std::string current = read_text(store, key_of(rank), deadline);
  for (;;) {
    Turn turn;
    if (!current.empty()) {
      const Claim holder = decode(current);
      if (!holder.is_ours() && !holder.is_gone()) refuse(store, holder, own_claim(1, world_size), rank);
      turn = {holder.round, true};
    }
    for (; is_over(turn.round); ++turn.round) turn.again = false;
    const std::string own = encode(own_claim(turn.round, world_size));
    const std::string now = exchange_text(store, key_of(rank), current, own, deadline);
    if (now == own) return turn;
    current = now;  // somebody else was faster
  }
}

bool is_held(Store& store, int rank, int world_size, base::Deadline deadline) {
  const std::string text = read_text(store, key_of(rank), deadline);
  if (text.empty()) return false;
  const Claim holder = decode(text);
  return !holder.is_gone() && holder.world_size == world_size;
}

void give_up_rank(Store& store, int rank) noexcept {
  try {
    const auto deadline = base::Deadline::after(std::chrono::seconds(1));
    const std::string current = read_text(store, key_of(rank), deadline);
    if (current.empty()) return;
    Claim claim = decode(current);
    if (!claim.is_ours()) return;
    claim.is_given_up = true;
    exchange_text(store, key_of(rank), current, encode(claim), deadline);
  } catch (const std::exception& error) {
    PARLEY_LOG(debug, "init", "rank ", rank, " was not given up in the store: ", error.what());
  }
}

}  // namespace parley::wireup
