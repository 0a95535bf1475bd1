#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rendezvous/address_card.h"
#include "transport/base/wire.h"

namespace parley::wireup {

// Where the ranks of a world are: what every rank knows of every other one, as runs of ranks that are alike,
// so that it grows with the hosts rather than with the ranks where those of a host follow each other.
//
// Pure; immutable once made.
class Topology {
 public:
  struct Host {
    std::string name;
    std::uint32_t ranks = 0;  // that it has
    std::uint32_t cores = 0;  // that those may use together; 0: not known
  };
  // Ranks that see each other's processes: of one host, and one PID namespace.
  using PlaceNumber = std::uint32_t;

  Topology() = default;
  // One card for each rank.
  explicit Topology(std::span<const rendezvous::AddressCard> cards);

  [[nodiscard]] int size() const noexcept { return size_; }
  [[nodiscard]] std::size_t place_count() const noexcept { return places_.size(); }

  // REQUIRES of all that follow: ranks below size().
  [[nodiscard]] const Host& host_of(int rank) const noexcept { return hosts_[host_number(rank)]; }
  [[nodiscard]] std::uint32_t host_number(int rank) const noexcept { return places_[place_of(rank)].host; }
  [[nodiscard]] PlaceNumber place_of(int rank) const noexcept { return run_of(rank).place; }
  [[nodiscard]] bool share_place(int a, int b) const noexcept { return place_of(a) == place_of(b); }
  // How many lower ranks its host has.
  [[nodiscard]] int local_rank(int rank) const noexcept;
  // Whether it offers shared memory to those of its host.
  [[nodiscard]] bool offers_memory(int rank) const noexcept { return run_of(rank).offers_memory; }
  // Whether it has a core of its own, see core_share.h.
  [[nodiscard]] bool has_core(int rank) const noexcept { return run_of(rank).has_core; }

  [[nodiscard]] base::Bytes encode() const;
  // Nothing when the bytes are none of encode()'s.
  static std::optional<Topology> decode(std::span<const std::byte> bytes);

 private:
  struct Place {
    std::uint32_t host = 0;
    std::string pid_namespace;
  };
  struct Run {
    int first = 0;
    PlaceNumber place = 0;
    bool offers_memory = false;
    bool has_core = false;
  };

  [[nodiscard]] const Run& run_of(int rank) const noexcept;
  [[nodiscard]] int end_of(const Run& run) const noexcept;
  [[nodiscard]] bool is_sound() const noexcept;

  int size_ = 0;
  std::vector<Host> hosts_;
  std::vector<Place> places_;
  std::vector<Run> runs_;  // in order; the first one begins at 0
};

}  // namespace parley::wireup
