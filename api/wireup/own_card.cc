#include "api/wireup/own_card.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string>

#include "transport/base/host.h"
#include "transport/base/log.h"

namespace parley::wireup {
namespace {

// Where our process numbers mean something: a process of another container may have the same number, or none
// that we can see, on the same host.
std::string own_pid_namespace() {
  struct stat pids {};
  return stat("/proc/self/ns/pid", &pids) == 0 ? std::to_string(pids.st_ino) : "unknown";
}

}  // namespace

rendezvous::AddressCard own_card() {
  rendezvous::AddressCard card;
  card.host = base::host_name();
  card.host_id = base::host_id();
  card.pid = getpid();
  card.cores = base::usable_cores();
  card.quotas = base::cpu_quotas();
  card.start = base::process_start(card.pid);
  card.pid_namespace = own_pid_namespace();
  return card;
}

bool is_same_process(const rendezvous::AddressCard& a, const rendezvous::AddressCard& b) {
  return a.pid == b.pid && a.start == b.start && a.pid_namespace == b.pid_namespace && a.host_id == b.host_id;
}

bool is_in_sight(const rendezvous::AddressCard& a, const rendezvous::AddressCard& b) {
  return a.host_id == b.host_id && a.pid_namespace == b.pid_namespace;
}

bool has_ended(const rendezvous::AddressCard& card) {
  const std::string start = base::process_start(card.pid);
  if (start == card.start) return false;
  // Nothing can be read of a dead process for which nobody has waited, either.
  const bool can_be_read = access(base::concat("/proc/", card.pid, "/stat").c_str(), R_OK) == 0;
  if (!start.empty() || can_be_read) return true;
  return kill(static_cast<pid_t>(card.pid), 0) != 0 && errno == ESRCH;  // else /proc hides it from us
}

bool is_dead(const rendezvous::AddressCard& card) {
  return card.host_id == base::host_id() && card.pid_namespace == own_pid_namespace() && has_ended(card);
}

}  // namespace parley::wireup
