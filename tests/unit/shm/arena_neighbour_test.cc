#include "transport/shm/arena_neighbour.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "tests/unit/shm/pass_descriptors.h"
#include "transport/shm/handover.h"

namespace parley::transport::shm {
namespace {

using Sight = Neighbour::Sight;

// The two ends of a link, of which one shows.
struct Sides {
  Sides() {
    auto [one, other] = testing::make_sockets();
    for (const base::UniqueFd* end : {&one, &other}) ::fcntl(end->get(), F_SETFL, O_NONBLOCK);
    socket = std::move(one);
    other_socket = std::move(other);
  }

  std::shared_ptr<Arena> arena = Arena::create({.least_bytes = 64 << 10, .growth_divisor = 4});
  std::shared_ptr<std::byte> memory = arena->allocate(10'000).value();
  base::UniqueFd socket, other_socket;
  WindowPool windows{{}};
  ArenaExchange own{arena.get(), socket};
  std::optional<ArenaExchange> its{std::in_place, nullptr, other_socket};
  Handover own_handover{windows, own, socket}, its_handover{windows, *its, other_socket};
  PeerBell bell;
};

TEST(ArenaNeighbour, SeesWhatWasShownAsItIsAndKeepsItWhenTheLinkHasEnded) {
  Sides sides;
  ArenaNeighbour here(sides.own, sides.bell);
  const base::ConstMemoryRef shown{sides.memory.get() + 64, 1'000};
  const auto key = here.key_of(shown);
  ASSERT_TRUE(key);
  std::shared_ptr<const std::byte> seen;
  {
    const ArenaNeighbour there(*sides.its, sides.bell);
    EXPECT_EQ(there.look(*key, 1'000), nullptr) << "it was not shown yet";
    EXPECT_EQ(here.show(shown), Sight::asked);
    ASSERT_TRUE(sides.its_handover.hear().ok());
    ASSERT_TRUE(sides.own_handover.hear().ok());
    EXPECT_EQ(here.show(shown), Sight::sees);
    seen = there.look(*key, 1'000);
    EXPECT_EQ(there.look(*key, std::size_t{1} << 40), nullptr) << "no more than there is";
  }
  sides.its.reset();
  ASSERT_NE(seen, nullptr);
  sides.memory.get()[64 + 999] = std::byte{42};
  EXPECT_EQ(seen.get()[999], std::byte{42});
}

TEST(ArenaNeighbour, HasNoKeyForWhatLiesElsewhere) {
  Sides sides;
  const ArenaNeighbour here(sides.own, sides.bell), there(*sides.its, sides.bell);
  const std::vector<std::byte> elsewhere(100);
  EXPECT_FALSE(here.key_of({elsewhere.data(), elsewhere.size()}));
  EXPECT_FALSE(there.key_of({sides.memory.get(), 100})) << "it has no arena";
}

}  // namespace
}  // namespace parley::transport::shm
