#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "api/wireup/topology.h"
#include "rendezvous/address_card.h"
#include "transport/base/wire.h"

namespace parley::wireup {

// A process as those see it that share its PID namespace.
struct Process {
  int rank = 0;
  std::int64_t pid = 0;
  std::string start = {};  // with `pid`, tells it from all others
};

base::Bytes encode(std::span<const Process> processes);
// Nothing when the bytes are none of encode()'s.
std::optional<std::vector<Process>> decode_processes(std::span<const std::byte> bytes);

// The ranks of a world, as one of them knows them: where all are, the processes of its own place, and the
// cards of those that it had to do with.
//
// Thread-safety: safe; topology() and neighbours() are immutable.
class Roster {
 public:
  // `neighbours`: of the own place, in any order.
  explicit Roster(Topology topology, std::vector<Process> neighbours = {});
  // Knows all cards, one for each rank.
  explicit Roster(const std::vector<rendezvous::AddressCard>& cards);

  [[nodiscard]] const Topology& topology() const noexcept { return topology_; }
  [[nodiscard]] const std::vector<Process>& neighbours() const noexcept { return neighbours_; }

  void learn(int rank, rendezvous::AddressCard card);
  // Nothing: it is not known.
  [[nodiscard]] std::optional<rendezvous::AddressCard> card(int rank) const;
  // 0: not known.
  [[nodiscard]] std::int64_t pid_of(int rank) const;
  // "rank 2 (node-b, pid 4711)", or "rank 2 (node-b)".
  [[nodiscard]] std::string name_of(int rank) const;

 private:
  const Topology topology_;
  const std::vector<Process> neighbours_;
  mutable std::mutex mutex_;
  std::map<int, rendezvous::AddressCard> cards_;  // under the mutex
};

}  // namespace parley::wireup
