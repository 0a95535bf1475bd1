#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <thread>
#include <vector>

#include "api/device_split.h"
#include "api/group_state.h"
#include "tests/unit/nccl/simulated_world.h"

namespace parley::nccl::testing {

// Ranks of which some are late or fail while a communicator is split.
class SplitWorld : public SimulatedWorld {
 protected:
  static constexpr const char* split_off = "; split off from its parent's)";

  // Long enough for every machine: who waits so long has failed.
  template <typename Condition>
  static void wait_until(const Condition& condition) {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::minutes(2);
    while (!condition()) {
      if (std::chrono::steady_clock::now() > limit) {
        ADD_FAILURE() << "it has not come to that";
        return;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  void wait_for(Call call, std::uint64_t count) {
    wait_until([&] { return nccl_.count(call) >= count; });
  }
  // All ranks have come, by messages: no collective, which what follows might end.
  static void wait_for_all(ProcessGroup& group) { group.monitored_barrier(); }

  // Of a dup() whose ranks have met, and have a twin.
  static detail::SplitCall split_call(const ProcessGroup& parent,
                                      std::optional<std::chrono::nanoseconds> timeout = std::nullopt) {
    detail::SplitCall call{.name = "dup", .votes = {}, .timeout = timeout};
    call.votes.resize(static_cast<std::size_t>(parent.size()),
                      {.color = 0, .wish = wireup::DeviceWish::automatic});
    return call;
  }
  static void split_for(ProcessGroup& parent, ProcessGroup& twin, const detail::SplitCall& call) {
    detail::split_devices(detail::GroupAccess::state(parent), call, detail::GroupAccess::state(twin).get());
  }
  // With no split of its own.
  static ProcessGroup twin_of(ProcessGroup& group) {
    std::vector<int> all;
    for (int rank = 0; rank < group.size(); ++rank) all.push_back(rank);
    return group.new_group(all);
  }
  static void use(ProcessGroup& group, Device device) {
    const Tensor tensor = filled(100, 1.0F, device);
    group.all_reduce(tensor);
    EXPECT_EQ(last_of<float>(tensor), static_cast<float>(group.size()));
  }
};

}  // namespace parley::nccl::testing
