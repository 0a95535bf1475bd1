#include "api/wireup/own_card.h"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <random>
#include <string>

#include "transport/base/host.h"
#include "transport/base/log.h"

namespace parley::wireup {
namespace {

// Where our process numbers mean something: a process of another container may have the same number, or none
// that we can see, on the same host. Where /proc is that of another namespace or is not there, nobody is
// seen.
std::string own_pid_namespace() {
  std::array<char, 32> self{};
  struct stat pids {};
  const bool is_ours =
      readlink("/proc/self", self.data(), self.size() - 1) > 0 && std::to_string(getpid()) == self.data();
  if (is_ours && stat("/proc/self/ns/pid", &pids) == 0) return std::to_string(pids.st_ino);
  static const auto nowhere = std::random_device{}();
  return base::concat("unseen-", nowhere, '-', getpid());
}

}  // namespace

rendezvous::AddressCard own_card() {
  rendezvous::AddressCard card;
  card.host = base::host_name();
  card.host_id = base::host_id();
  card.pid = getpid();
  card.cores = base::usable_cores();
  card.quotas = base::cpu_quotas();
  card.start = base::look_at_process(card.pid).start;
  card.pid_namespace = own_pid_namespace();
  return card;
}

bool is_same_process(const rendezvous::AddressCard& a, const rendezvous::AddressCard& b) {
  return a.pid == b.pid && a.start == b.start && a.pid_namespace == b.pid_namespace && a.host_id == b.host_id;
}

bool has_ended(std::int64_t pid, const std::string& start) {
  using State = base::ProcessSight::State;
  const base::ProcessSight sight = base::look_at_process(pid);
  const bool is_another = sight.state == State::there && sight.start != start;
  return sight.state == State::ended || is_another;
}

bool is_dead(const rendezvous::AddressCard& card) {
  return card.host_id == base::host_id() && card.pid_namespace == own_pid_namespace() &&
         has_ended(card.pid, card.start);
}

}  // namespace parley::wireup
