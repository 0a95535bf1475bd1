#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

#include "tests/unit/shm/pulling_world.h"

namespace parley::transport::shm::testing {

// Larger than the link copies at once, within the eager limit.
inline constexpr std::size_t medium = 20'000;

// Two processes, of which number 1 may pull what number 0 tenders.
class Tender : public WatchedReads {
 protected:
  Tender() { reads = {}; }  // they have tried to read each other

  // Without the receiver.
  void finish_alone(const Request& send) {
    for (int looks = 0; send.state != RequestState::done; ++looks) {
      ASSERT_LT(looks, 100'000) << "its data have not left";
      world_.step(0);
    }
  }
  // All credit is back, or on its way back.
  void expect_no_credit_lost() {
    for (int i = 0; i < 100; ++i) {
      world_.step(0);
      world_.step(1);
    }
    const std::int32_t owed = world_.messengers[1]->peer(0).owed_units;
    EXPECT_EQ(world_.messengers[0]->peer(1).credit_units + owed, eager_window_units);
  }

  PullingWorld world_{{2, CrossMemory::create(watched_read)}, 64 << 10};
};

}  // namespace parley::transport::shm::testing
