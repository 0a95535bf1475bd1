#include "transport/shm/shm_neighbour.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "tests/unit/shm/pass_descriptors.h"
#include "tests/unit/shm/pulling_world.h"
#include "transport/shm/handover.h"

namespace parley::transport::shm {
namespace {

using Sight = Neighbour::Sight;

// What two processes have found out that both are this one.
CrossMemoryTerms terms(CrossRead peer_reads) {
  auto own = CrossMemory::create(testing::watched_read);
  return {own, getpid(), CrossRead::works, peer_reads, own->word_address(), own->word()};
}

class Neighbours : public testing::WatchedReads {};

void refuse_reads(int error) {
  testing::reads = {};
  testing::reads.succeed = 0;
  testing::reads.error = error;
}

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
  PeerMemory its_memory{terms(CrossRead::works), socket.get(), -1};
  PeerBell bell;
};

TEST_F(Neighbours, SeesWhatWasShownAsItIsAndKeepsItWhenTheLinkHasEnded) {
  Sides sides;
  ShmNeighbour here(sides.own, sides.its_memory, sides.bell);
  const base::ConstMemoryRef shown{sides.memory.get() + 64, 1'000};
  const auto key = here.key_of(shown);
  ASSERT_TRUE(key);
  std::shared_ptr<const std::byte> seen;
  {
    const ShmNeighbour there(*sides.its, sides.its_memory, sides.bell);
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

// Who tells others of it again compares them.
TEST_F(Neighbours, GivesOnePlaceOneKey) {
  Sides sides;
  const ShmNeighbour here(sides.own, sides.its_memory, sides.bell);
  const auto key = here.key_of({sides.memory.get() + 64, 1'000});
  ASSERT_TRUE(key);
  EXPECT_EQ(here.key_of({sides.memory.get() + 64, 2'000}), key);
  EXPECT_NE(here.key_of({sides.memory.get() + 128, 1'000}), key);
}

TEST_F(Neighbours, HasNoKeyForWhatLiesElsewhere) {
  Sides sides;
  const ShmNeighbour here(sides.own, sides.its_memory, sides.bell),
      there(*sides.its, sides.its_memory, sides.bell);
  const std::vector<std::byte> elsewhere(100);
  EXPECT_FALSE(here.key_of({elsewhere.data(), elsewhere.size()}));
  EXPECT_FALSE(there.key_of({sides.memory.get(), 100})) << "it has no arena";
}

TEST_F(Neighbours, CopiesWhatLiesElsewhereOutOfTheProcess) {
  Sides sides;
  ShmNeighbour there(*sides.its, sides.its_memory, sides.bell);
  const testing::Bytes elsewhere = testing::content(10'000);
  const auto key = there.key_for_copies({elsewhere.data(), elsewhere.size()});
  ASSERT_TRUE(key);
  EXPECT_TRUE(there.may_copy());
  testing::Bytes copy(700);
  EXPECT_TRUE(there.copy(*key, 300, {copy.data(), copy.size()}).ok());
  EXPECT_TRUE(testing::is_same(copy, std::span(elsewhere).subspan(300, 700)));

  PeerMemory unread(terms(CrossRead::not_allowed), sides.socket.get(), -1);
  EXPECT_FALSE(ShmNeighbour(sides.own, unread, sides.bell).key_for_copies({elsewhere.data(), 1}));
}

TEST_F(Neighbours, GoesOnCopyingWhereMemoryWasTakenAway) {
  Sides sides;
  ShmNeighbour there(*sides.its, sides.its_memory, sides.bell);
  constexpr std::size_t bytes = 4096;
  void* const gone = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const auto key = there.key_for_copies({static_cast<std::byte*>(gone), bytes});
  ASSERT_EQ(munmap(gone, bytes), 0);
  testing::Bytes copy(bytes);
  EXPECT_EQ(there.copy(*key, 0, {copy.data(), copy.size()}), base::Status(base::Code::io_error, EFAULT));
  EXPECT_TRUE(there.may_copy());
}

TEST_F(Neighbours, CopiesNoMoreWhereItMayNot) {
  testing::Bytes bytes(8);
  const base::MemoryRef into{bytes.data(), bytes.size()};
  for (const bool is_tried : {false, true}) {
    Sides sides;
    ShmNeighbour there(*sides.its, sides.its_memory, sides.bell);
    const auto key = there.key_for_copies({bytes.data(), bytes.size()});
    refuse_reads(EPERM);
    if (is_tried)
      EXPECT_FALSE(there.may_copy());
    else
      EXPECT_EQ(there.copy(*key, 0, into), base::Status(base::Code::io_error, EPERM));
    EXPECT_EQ(there.copy(*key, 0, into), base::Code::unreachable);
    EXPECT_FALSE(there.may_copy());
    EXPECT_EQ(testing::reads.count, 1);
  }
}

// The process is ending, and its socket has not told yet.
TEST_F(Neighbours, FindsNoProcessAnyMore) {
  Sides sides;
  ShmNeighbour there(*sides.its, sides.its_memory, sides.bell);
  testing::Bytes bytes(8);
  const auto key = there.key_for_copies({bytes.data(), bytes.size()});
  refuse_reads(ESRCH);
  EXPECT_FALSE(there.may_copy());
  EXPECT_EQ(there.copy(*key, 0, {bytes.data(), bytes.size()}), base::Code::peer_died);
}

}  // namespace
}  // namespace parley::transport::shm
