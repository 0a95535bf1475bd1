#pragma once

#include <cstddef>
#include <string>

#include "transport/base/status.h"

namespace parley::collective {

// What somebody else does on a device with the memory of a run, whose schedule then moves nothing of it: by
// its messages the ranks only find out whether all have come, and have come for the same.
// Thread-safety: none; the engine's lock.
class Errand {
 public:
  // Has it begin, in the order of the call's stream, with the input as one piece of memory. ok: it is told to
  // the stream; `again`: not yet, and the run asks again soon; else it has failed, for good.
  virtual base::Status begin(const std::byte* input, std::byte* output) noexcept = 0;
  // For people: what is waited for after `again`, or why it has failed.
  [[nodiscard]] virtual std::string describe() const = 0;

 protected:
  ~Errand() = default;
};

}  // namespace parley::collective
