#pragma once

#include <cstdint>
#include <span>

#include "bench/shared_memory.h"
#include "bench/waiting.h"

namespace parley::bench {

// Tells how near the two cores of a pair are at this moment: a ping-pong of one flag in shared memory. About
// 60 ns one way when the cores share a cache, 200 ns and more when the host has moved them apart; figures
// taken in different modes do not compare. Both ends call measure() equally often.
class Probe {
 public:
  // What the flags need.
  static constexpr std::size_t memory_bytes = 4096;
  // Maps the flags at the start of the memory; `leads` is true on one end. Borrows both.
  Probe(const SharedMemory& memory, const Waiting& waiting, bool leads);

  // About 1 ms; on a machine so busy that turns take time slices, a few of them. One-way time in ns, the
  // median of short stretches; 0 on the end that does not lead. Throws std::runtime_error when the partner
  // has gone or is silent for 30 s.
  double measure();

 private:
  struct Flags;
  void exchange(int count);
  double time_batch();
  // One more exchange, in which the leader tells whether another batch follows: on both ends.
  bool goes_on(bool wanted);

  Flags& flags_;
  const Waiting& waiting_;
  bool leads_;
  std::uint32_t turn_ = 0;
};

// Where the cores of a pair were while a row was measured.
enum class Mode {
  sibling,  // two threads of one core, which share its first-level cache: 11 ns
  near,     // cores that share a cache: 50 to 100 ns
  far,      // cores that do not: 140 ns and more
  mixed,    // not the same place in nine of ten probes: the rounds do not compare with each other
};

inline constexpr double sibling_below_ns = 30;
inline constexpr double near_below_ns = 120;

// REQUIRES: at least one probe.
Mode mode_of(std::span<const double> probe_ns) noexcept;

constexpr const char* to_string(Mode mode) noexcept {
  switch (mode) {
    case Mode::sibling: return "sibling";
    case Mode::near: return "near";
    case Mode::far: return "far";
    case Mode::mixed: return "mixed";
  }
  return "";
}

}  // namespace parley::bench
