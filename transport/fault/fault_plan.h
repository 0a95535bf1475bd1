#pragma once

#include <cstddef>
#include <cstdint>

namespace parley::transport::fault {

// How a link or a process comes to its end at the packet that FaultPlan::cut_at_packet counts.
enum class Cut : unsigned char {
  none,
  link_dies,     // the packet is lost, its link ends with peer_died on both sides
  process_dies,  // the packet is lost, every link of this transport ends so
  truncation,    // the header and half of the payload arrive, then the link ends: protocol_violation here
  corruption,    // nothing of the packet is delivered, the link ends: protocol_violation here
};

// What a FaultTransport does to its transport. Chances are per mille; time is counted in calls of progress().
// The same plan and the same course of calls give the same faults.
struct FaultPlan {
  std::uint64_t seed = 1;

  std::uint32_t delay_permille = 0;  // an arriving packet, and all behind it on its link, waits
  std::uint32_t delay_most = 8;      // ... for 1 to so many calls

  std::uint32_t refuse_permille = 0;  // try_send() answers `again`
  std::uint32_t refuse_most = 8;      // ... for 1 to so many calls

  std::uint32_t split_permille = 0;  // a payload goes by on_header(), in pieces, one a call, and on_landed()
  std::uint32_t split_pieces = 4;    // ... in up to so many pieces

  Cut cut = Cut::none;
  // Counted from 1 over all packets this transport delivers, but for those that set a link up.
  std::uint64_t cut_at_packet = 0;

  [[nodiscard]] bool has_faults() const noexcept {
    return delay_permille != 0 || refuse_permille != 0 || split_permille != 0 || cut != Cut::none;
  }
};

}  // namespace parley::transport::fault
