// A look around goes to a bounded number of links, and all have their turn.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "tests/unit/shm/pulling_world.h"

namespace parley::transport::shm {
namespace {

using testing::Bytes;
using testing::content;
using testing::PullingWorld;

constexpr std::uint32_t ranks = 30;
constexpr std::uint32_t peers = ranks - 1;
// Eight that were heard last, and four of the others.
constexpr std::uint32_t looks_at_once = 12;
constexpr std::uint32_t most_looks = 1 + (peers - looks_at_once + 3) / 4;

class LookAround : public ::testing::Test {
 protected:
  LookAround() : world_(std::vector<std::shared_ptr<const CrossMemory>>(ranks)) { world_.settle(); }

  // A message from each of them is under way to 0.
  void send_from(std::uint32_t first, std::uint32_t last) {
    awaited_.clear();
    for (std::uint32_t from = first; from <= last; ++from) {
      awaited_.push_back(&world_.receive(0, from, 1, inbox_[from]));
      EXPECT_EQ(world_.send(from, 0, 1, message_), nullptr) << "it is not small enough";
      world_.messengers[from]->end_burst();
    }
  }
  [[nodiscard]] std::size_t arrived() const {
    std::size_t count = 0;
    for (const Request* request : awaited_) count += request->state == RequestState::done ? 1 : 0;
    return count;
  }

  PullingWorld world_;
  const Bytes message_ = content(8);
  std::vector<Bytes> inbox_ = std::vector<Bytes>(ranks, Bytes(8));
  std::vector<Request*> awaited_;
};

TEST_F(LookAround, FindsAllInTurns) {
  send_from(1, peers);
  world_.step(0);
  EXPECT_EQ(arrived(), looks_at_once);
  for (std::uint32_t look = 1; look < most_looks; ++look) world_.step(0);
  EXPECT_EQ(arrived(), peers);
}

TEST_F(LookAround, FindsAtOnceWhoeverWasHeardLast) {
  for (std::uint32_t from = 1; from <= peers; ++from) {
    send_from(from, from);
    for (std::uint32_t look = 0; look < most_looks; ++look) world_.step(0);
    EXPECT_EQ(arrived(), 1U) << "from " << from;
    send_from(from, from);
    world_.step(0);
    EXPECT_EQ(arrived(), 1U) << "from " << from << ", which has just been heard";
  }
}

TEST_F(LookAround, FindsAllAfterASleep) {
  EXPECT_TRUE(world_.transports[0]->arm());
  send_from(1, peers);
  EXPECT_FALSE(world_.transports[0]->arm());
  world_.step(0);
  EXPECT_EQ(arrived(), peers);
}

}  // namespace
}  // namespace parley::transport::shm
