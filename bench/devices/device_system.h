#pragma once

#include <utility>

#include "bench/devices/rank_device.h"
#include "bench/parley_collective.h"
#include "bench/parley_system.h"

namespace parley::bench {

// Parley's messages, whose data are on the device before the loop goes on: each receive, and each window of
// them, ends when this rank's stream has done all it was told. So a sender's answer, too, comes after its own
// data have left. A System of phase.h.
class DeviceSystem : public ParleySystem {
 public:
  // Borrows the device; the rest as ParleySystem.
  template <typename... Arguments>
  explicit DeviceSystem(RankDevice& device, Arguments&&... arguments)
      : ParleySystem(std::forward<Arguments>(arguments)...), device_(device) {}

  void recv() {
    ParleySystem::recv();
    device_.finish();
  }
  void recv_window() {
    ParleySystem::recv_window();
    device_.finish();
  }
  void exchange_windows() {
    ParleySystem::exchange_windows();
    device_.finish();
  }

 private:
  RankDevice& device_;
};

// The same of a collective: a call ends when this rank's result is there. A Collective of collective.h.
class DeviceCollective : public ParleyCollective {
 public:
  template <typename... Arguments>
  explicit DeviceCollective(RankDevice& device, Arguments&&... arguments)
      : ParleyCollective(std::forward<Arguments>(arguments)...), device_(device) {}

  void call(int root) {
    ParleyCollective::call(root);
    device_.finish();
  }

 private:
  RankDevice& device_;
};

}  // namespace parley::bench
