#pragma once

#include <optional>

#include "bench/stopwatch.h"

namespace parley::bench {

// Which part of the time since its construction the calling thread was not kept waiting for a core by other
// processes: 1 when nobody else used the core, about 0.5 when a second busy process did. A thread that sleeps
// does not wait, and what this process's other threads ran is no loss either, so that a library's own naps
// and helpers are held against the library and not against the machine. What a hypervisor takes away does
// not show. Use it in the thread that made it.
class CoreWatch {
 public:
  CoreWatch();
  // Costs about 20 us. Nothing where the kernel keeps no such account (/proc/thread-self/schedstat).
  [[nodiscard]] std::optional<double> share() const;

 private:
  std::optional<double> waited_us_before_;
  double helpers_us_before_;
  Stopwatch wall_;
};

}  // namespace parley::bench
