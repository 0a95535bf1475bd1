#include "api/wireup/topology.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "api/wireup/core_share.h"

namespace parley::wireup {

using rendezvous::AddressCard;

namespace {

using CardsOfHosts = std::map<std::string, std::vector<AddressCard>>;

std::uint32_t count_cores(const std::vector<AddressCard>& cards) {
  std::set<std::uint16_t> cores;
  for (const AddressCard& card : cards) cores.insert(card.cores.begin(), card.cores.end());
  return static_cast<std::uint32_t>(cores.size());
}

// Whether the ranks of a host have cores of their own. Those that may use the same ones have the same answer.
class CoreShares {
 public:
  bool has_core(const AddressCard& card, const std::vector<AddressCard>& neighbours) {
    std::vector<std::string> groups;
    for (const base::CpuQuota& quota : card.quotas) groups.push_back(quota.group);
    const auto [known, is_new] = answers_.try_emplace({card.host_id, card.cores, std::move(groups)}, false);
    if (is_new) known->second = has_core_of_its_own(card, neighbours);
    return known->second;
  }

 private:
  using Means = std::tuple<std::string, std::vector<std::uint16_t>, std::vector<std::string>>;
  std::map<Means, bool> answers_;
};

}  // namespace

Topology::Topology(std::span<const AddressCard> cards) : size_(static_cast<int>(cards.size())) {
  CardsOfHosts neighbours;
  for (const AddressCard& card : cards) neighbours[card.host_id].push_back(card);
  std::map<std::string, std::uint32_t> hosts;
  std::map<std::pair<std::uint32_t, std::string>, PlaceNumber> places;
  CoreShares shares;
  for (int rank = 0; rank < size_; ++rank) {
    const AddressCard& card = cards[static_cast<std::size_t>(rank)];
    const std::vector<AddressCard>& of_host = neighbours[card.host_id];
    const auto [host, is_new_host] =
        hosts.try_emplace(card.host_id, static_cast<std::uint32_t>(hosts_.size()));
    if (is_new_host)
      hosts_.push_back({card.host, static_cast<std::uint32_t>(of_host.size()), count_cores(of_host)});
    const auto [place, is_new_place] =
        places.try_emplace({host->second, card.pid_namespace}, static_cast<PlaceNumber>(places_.size()));
    if (is_new_place) places_.push_back({host->second, card.pid_namespace});
    const Run run{rank, place->second, !card.shm_address.empty(), shares.has_core(card, of_host)};
    const bool is_alike = !runs_.empty() && runs_.back().place == run.place &&
                          runs_.back().offers_memory == run.offers_memory &&
                          runs_.back().has_core == run.has_core;
    if (!is_alike) runs_.push_back(run);
  }
}

const Topology::Run& Topology::run_of(int rank) const noexcept {
  const auto behind = std::upper_bound(runs_.begin(), runs_.end(), rank,
                                       [](int number, const Run& run) { return number < run.first; });
  return *std::prev(behind);
}

int Topology::end_of(const Run& run) const noexcept {
  return &run == &runs_.back() ? size_ : (&run + 1)->first;
}

int Topology::local_rank(int rank) const noexcept {
  const std::uint32_t host = host_number(rank);
  int count = 0;
  for (const Run& run : runs_) {
    if (run.first >= rank) break;
    if (places_[run.place].host == host) count += std::min(end_of(run), rank) - run.first;
  }
  return count;
}

base::Bytes Topology::encode() const {
  base::WireWriter writer;
  writer.put(size_).put(static_cast<std::uint32_t>(hosts_.size()));
  for (const Host& host : hosts_) writer.put_string(host.name).put(host.ranks).put(host.cores);
  writer.put(static_cast<std::uint32_t>(places_.size()));
  for (const Place& place : places_) writer.put(place.host).put_string(place.pid_namespace);
  writer.put(static_cast<std::uint32_t>(runs_.size()));
  for (const Run& run : runs_) writer.put(run.first).put(run.place).put(run.offers_memory).put(run.has_core);
  return std::move(writer).bytes();
}

// Whether it may be asked about every rank.
bool Topology::is_sound() const noexcept {
  const bool places_are = std::all_of(places_.begin(), places_.end(),
                                      [&](const Place& place) { return place.host < hosts_.size(); });
  const bool runs_are = std::all_of(runs_.begin(), runs_.end(), [&](const Run& run) {
    return run.place < places_.size() && run.first < end_of(run);
  });
  return size_ > 0 && places_are && !runs_.empty() && runs_.front().first == 0 && runs_are;
}

std::optional<Topology> Topology::decode(std::span<const std::byte> bytes) {
  base::WireReader reader(bytes);
  Topology topology;
  topology.size_ = reader.get<int>().value_or(0);
  // A number that is too large ends with the bytes.
  for (auto left = reader.get<std::uint32_t>().value_or(0); left > 0; --left) {
    auto name = reader.get_string();
    const auto ranks = reader.get<std::uint32_t>();
    const auto cores = reader.get<std::uint32_t>();
    if (!cores) return std::nullopt;
    topology.hosts_.push_back({*std::move(name), *ranks, *cores});
  }
  for (auto left = reader.get<std::uint32_t>().value_or(0); left > 0; --left) {
    const auto host = reader.get<std::uint32_t>();
    auto pid_namespace = reader.get_string();
    if (!pid_namespace) return std::nullopt;
    topology.places_.push_back({*host, *std::move(pid_namespace)});
  }
  for (auto left = reader.get<std::uint32_t>().value_or(0); left > 0; --left) {
    const auto first = reader.get<int>();
    const auto place = reader.get<PlaceNumber>();
    const auto offers_memory = reader.get<std::uint8_t>();
    const auto has_core = reader.get<std::uint8_t>();
    if (!has_core) return std::nullopt;
    topology.runs_.push_back({*first, *place, *offers_memory != 0, *has_core != 0});
  }
  if (!reader.finished() || !topology.is_sound()) return std::nullopt;
  return topology;
}

}  // namespace parley::wireup
