#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "bench/op.h"
#include "bench/row.h"

namespace parley::bench {

// A raw loop is a limit only while it is one: it spins, and it moves the bytes. What such loops can do is
// known from the run's own flag probe and memcpy; a limit out of that range is void, and the library's own
// figures stand.

// What a limit claims: the best raw loop's time. With more ranks all pairs run at once.
struct RawFigure {
  Op op = Op::latency;
  bool over_shm = false;  // else a socket over loopback
  int ranks = 2;
  std::size_t bytes = 0;
  double us = 0;  // per message, one way
};

RawFigure raw_figure_of(const Row& limit);

// What the same run says about the machine.
struct Reference {
  // The flag's way between two cores: the least and the most of the rounds, for the median loop need not have
  // met the cores where the median probe did. 0: not known.
  double least_probe_ns = 0;
  double most_probe_ns = 0;
  double memcpy_gb_per_s = 0;  // of 64 KiB, within one core's caches; 0: not known
  bool has_cores = true;       // one for each rank: else loops yield, and only their bytes can tell
};

// Why the limit is none, in words; nothing when it is sound. Of collectives over shared memory is known how
// long a line takes that two exchange, and what no loop moves in time; of others nothing, nor of the message
// rate of sockets, which is no limit.
std::optional<std::string> limit_void_reason(const RawFigure& figure, const Reference& reference);

}  // namespace parley::bench
