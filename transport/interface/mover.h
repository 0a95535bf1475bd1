#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "transport/base/memory_ref.h"
#include "transport/base/status.h"
#include "transport/interface/completion.h"

namespace parley::transport {

// Describes memory of one process to a mover in another; travels as the payload of an offer.
struct RemoteKey {
  std::array<std::byte, 32> bytes{};
};

// Moves large data by itself, beside the ordered link that announced it.
// Thread-safety: none; one thread at a time.
class Mover {
 public:
  virtual ~Mover() = default;
  [[nodiscard]] virtual std::string_view name() const noexcept = 0;

  // The key under which the peer's mover of the same name finds `memory`, which stays valid and unchanged
  // until the peer has said that it is done.
  [[nodiscard]] virtual RemoteKey expose(base::ConstMemoryRef memory) noexcept = 0;

  // Copies into.bytes bytes from the start of the remote memory. `ok`: done now. `in_progress`: `done`
  // follows from Transport progress. Else it failed and nothing more is touched.
  virtual base::Status pull(const RemoteKey& key, base::MemoryRef into, Completion& done) noexcept = 0;
};

}  // namespace parley::transport
