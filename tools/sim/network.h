#pragma once

#include <cstdint>
#include <vector>

namespace parley::sim {

// Where ranks are and what joins them: hosts of equally many ranks, in order; each host with rails (network
// adapters), which its ranks use in turn; racks of hosts, each below a switch whose uplink is narrower than
// all its rails together by `oversubscription`. What is above those switches takes everything.
struct Network {
  std::uint32_t ranks = 2;
  std::uint32_t ranks_per_host = 1;
  std::uint32_t rails = 1;           // of each host
  std::uint32_t hosts_per_rack = 0;  // 0: one switch for all, which takes everything
  double oversubscription = 1;
  double rail_byte_ns = 0;  // what each byte keeps a rail busy, in each direction
  // This host is not there any more, and the ranks of those after it have moved up: racks have not.
  std::uint32_t lost_host = nobody;
  static constexpr std::uint32_t nobody = 0xffffffff;

  [[nodiscard]] std::uint32_t hosts() const noexcept { return (ranks + ranks_per_host - 1) / ranks_per_host; }
  [[nodiscard]] std::uint32_t host(std::uint32_t rank) const noexcept {
    const std::uint32_t found = rank / ranks_per_host;
    return found < lost_host ? found : found + 1;
  }
  [[nodiscard]] std::uint32_t rail(std::uint32_t rank) const noexcept {
    return host(rank) * rails + rank % ranks_per_host % rails;
  }
  [[nodiscard]] std::uint32_t racks() const noexcept { return rack(ranks - 1) + 1; }
  [[nodiscard]] std::uint32_t rack(std::uint32_t rank) const noexcept {
    return hosts_per_rack == 0 ? 0 : host(rank) / hosts_per_rack;
  }
  [[nodiscard]] double uplink_byte_ns() const noexcept {
    return rail_byte_ns * oversubscription / (static_cast<double>(rails) * hosts_per_rack);
  }
  // The network looks the same from a rank and from the one that is so many ranks further; it consists of
  // whole such periods where `ranks` is a multiple.
  [[nodiscard]] std::uint32_t period() const noexcept {
    if (racks() == 1) return hosts() > 1 ? ranks_per_host : 1;
    return lost_host == nobody ? hosts_per_rack * ranks_per_host : ranks;
  }
  // The host of each rank as a schedule::Shape has it: empty where all are on one.
  [[nodiscard]] std::vector<std::uint32_t> host_of_each() const;
};

}  // namespace parley::sim
