#pragma once

#include "transport/base/status.h"

namespace parley::transport {

// One-shot notice that a transport gives when it no longer reads the payload of a packet it took with
// `in_progress`. Embedded in the operation that waits for it, so nothing is allocated.
// `fn` runs exactly once, inside Transport::progress() or close(), never inside try_send().
struct Completion {
  void (*fn)(Completion&, base::Status) noexcept = nullptr;
};

}  // namespace parley::transport
