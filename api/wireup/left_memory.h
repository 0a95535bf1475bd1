#pragma once

#include "transport/protocol/messenger.h"

namespace parley::wireup {

// Memory of ours that other ranks may still read, though we are done with it.
class LeftMemory {
 public:
  virtual ~LeftMemory() = default;
  // REQUIRES: the engine's lock.
  [[nodiscard]] virtual bool is_unread(const transport::Messenger& messenger) const noexcept = 0;
};

}  // namespace parley::wireup
