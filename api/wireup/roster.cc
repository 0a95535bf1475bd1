#include "api/wireup/roster.h"

#include <algorithm>
#include <utility>

#include "transport/base/log.h"

namespace parley::wireup {

base::Bytes encode(std::span<const Process> processes) {
  base::WireWriter writer;
  for (const Process& process : processes)
    writer.put(process.rank).put(process.pid).put_string(process.start);
  return std::move(writer).bytes();
}

std::optional<std::vector<Process>> decode_processes(std::span<const std::byte> bytes) {
  base::WireReader reader(bytes);
  std::vector<Process> processes;
  while (!reader.finished()) {
    const auto rank = reader.get<int>();
    const auto pid = reader.get<std::int64_t>();
    auto start = reader.get_string();
    if (!start) return std::nullopt;
    processes.push_back({*rank, *pid, *std::move(start)});
  }
  return processes;
}

Roster::Roster(Topology topology, std::vector<Process> neighbours)
    : topology_(std::move(topology)), neighbours_(std::move(neighbours)) {}

Roster::Roster(const std::vector<rendezvous::AddressCard>& cards) : topology_(cards) {
  for (std::size_t rank = 0; rank < cards.size(); ++rank) learn(static_cast<int>(rank), cards[rank]);
}

void Roster::learn(int rank, rendezvous::AddressCard card) {
  const std::lock_guard lock(mutex_);
  cards_.insert_or_assign(rank, std::move(card));
}

std::optional<rendezvous::AddressCard> Roster::card(int rank) const {
  const std::lock_guard lock(mutex_);
  const auto found = cards_.find(rank);
  if (found == cards_.end()) return std::nullopt;
  return found->second;
}

std::int64_t Roster::pid_of(int rank) const {
  const auto is_it = [rank](const Process& process) { return process.rank == rank; };
  const auto neighbour = std::find_if(neighbours_.begin(), neighbours_.end(), is_it);
  if (neighbour != neighbours_.end()) return neighbour->pid;
  const std::lock_guard lock(mutex_);
  const auto found = cards_.find(rank);
  return found == cards_.end() ? 0 : found->second.pid;
}

std::string Roster::name_of(int rank) const {
  const std::int64_t pid = pid_of(rank);
  return base::concat("rank ", rank, " (", topology_.host_of(rank).name,
                      pid == 0 ? "" : base::concat(", pid ", pid), ')');
}

}  // namespace parley::wireup
