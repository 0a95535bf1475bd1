#pragma once

namespace parley::wireup {

// What devices do for this rank besides what messages have told them. See World::await().
class DeviceWork {
 public:
  virtual ~DeviceWork() = default;  // may be called with the engine's lock held
  // Looks whether the device has done all that it was told so far. REQUIRES: the engine's lock.
  virtual bool is_done() noexcept = 0;
};

}  // namespace parley::wireup
