// batch_isend_irecv() over ranks that are threads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <parley/parley.h>
#include <parley/testing.h>

#include <string>
#include <vector>

#include "tests/unit/api/error_text.h"

namespace parley {
namespace {

using ::testing::ElementsAre;
using testing::error_text;
using ::testing::HasSubstr;
using testing::run_world;
using ::testing::StartsWith;

// tests the example of torch.distributed: rank r sends arange(2) + 2r to its right, and receives from its
// left.
TEST(Batch, RingOfTwo) {
  run_world(2, [](ProcessGroup& world) {
    const float first = static_cast<float>(2 * world.rank());
    const std::vector<float> out{first, first + 1};
    std::vector<float> in(2);
    const int right = (world.rank() + 1) % 2, left = right;
    std::vector<Work> works = world.batch_isend_irecv({{P2POp::isend, out, right}, {P2POp::irecv, in, left}});
    ASSERT_EQ(works.size(), 2U);
    wait_all(works);
    EXPECT_THAT(in, world.rank() == 0 ? ElementsAre(2.0F, 3.0F) : ElementsAre(0.0F, 1.0F));
  });
}

TEST(Batch, WorksAreInTheOrderOfTheirOperations) {
  run_world(3, [](ProcessGroup& world) {
    if (world.rank() != 0) return world.send(10 * world.rank(), 0, {.tag = world.rank()});
    int one = 0, two = 0;
    const int out = 7;
    int self = 0;
    const std::vector<P2POp> ops{
        {P2POp::isend, std::span(&out, 1), 0, 5},
        {P2POp::irecv, std::span(&two, 1), 2, any_tag},
        {P2POp::irecv, std::span(&self, 1), 0, 5},
        {P2POp::irecv, std::span(&one, 1), any_source, 1},
    };
    std::vector<Work> works = world.batch_isend_irecv(ops);
    EXPECT_EQ(works[1].wait().source, 2);
    EXPECT_EQ(works[1].tag(), 2);
    EXPECT_EQ(works[3].wait().source, 1);
    EXPECT_EQ(works[0].wait().tag, 5);
    works[2].wait();
    EXPECT_EQ(one, 10);
    EXPECT_EQ(two, 20);
    EXPECT_EQ(self, 7);
  });
}

TEST(Batch, MessagesOfOneRankKeepTheirOrder) {
  constexpr int count = 64;
  run_world(2, [](ProcessGroup& world) {
    std::vector<int> numbers(count);
    std::vector<P2POp> ops;
    for (int i = 0; i < count; ++i) {
      numbers[static_cast<std::size_t>(i)] = world.rank() == 0 ? i : -1;
      ops.push_back({world.rank() == 0 ? P2POp::isend : P2POp::irecv,
                     std::span(&numbers[static_cast<std::size_t>(i)], 1), 1 - world.rank()});
    }
    std::vector<Work> works = world.batch_isend_irecv(ops);
    wait_all(works);
    for (int i = 0; i < count; ++i) EXPECT_EQ(numbers[static_cast<std::size_t>(i)], i);
  });
}

TEST(Batch, MaySpanGroups) {
  run_world(3, [](ProcessGroup& world) {
    ProcessGroup pair = world.new_group({2, 0});
    if (world.rank() == 1) return;
    const int peer_in_world = world.rank() == 0 ? 2 : 0, peer_in_pair = 1 - pair.rank();
    const int in_world = 100 + world.rank(), in_pair = 200 + world.rank();
    int from_world = 0, from_pair = 0;
    std::vector<Work> works = world.batch_isend_irecv({
        {P2POp::isend, std::span(&in_world, 1), peer_in_world},
        {.op = P2POp::isend, .tensor = std::span(&in_pair, 1), .peer = peer_in_pair, .group = pair},
        {.op = P2POp::irecv, .tensor = std::span(&from_pair, 1), .peer = peer_in_pair, .group = pair},
        {P2POp::irecv, std::span(&from_world, 1), peer_in_world},
    });
    wait_all(works);
    EXPECT_EQ(from_world, 100 + peer_in_world);
    EXPECT_EQ(from_pair, 200 + peer_in_world);
    EXPECT_EQ(works[2].source(), peer_in_pair);
  });
}

TEST(Batch, NothingIsStartedWhenOneOperationIsWrong) {
  run_world(2, [](ProcessGroup& world) {
    int in = 0;
    const int out = 1;
    const Tensor from(std::span(&out, 1)), into(std::span(&in, 1));
    const int peer = 1 - world.rank();
    EXPECT_THAT(error_text<UsageError>([&] { (void)world.batch_isend_irecv(std::span<const P2POp>()); }),
                HasSubstr("no operations"));
    EXPECT_THAT(error_text<UsageError>([&] {
                  (void)world.batch_isend_irecv({{P2POp::isend, from, peer}, {P2POp::irecv, into, 2}});
                }),
                AllOf(HasSubstr("operation 1"), HasSubstr("0 to 1")));
    EXPECT_THAT(error_text<UsageError>([&] {
                  (void)world.batch_isend_irecv({{P2POp::isend, from, peer, -1}});
                }),
                HasSubstr("operation 0"));
    EXPECT_THAT(error_text<UsageError>([&] {
                  (void)world.batch_isend_irecv({{P2POp::irecv, from, peer}});
                }),
                HasSubstr("operation 0"));
    const ProcessGroup others = world.new_group({peer});
    for (const P2POp::Kind kind : {P2POp::isend, P2POp::irecv})
      EXPECT_THAT(error_text<UsageError>([&] {
                    (void)world.batch_isend_irecv({{.op = kind, .tensor = into, .peer = 0, .group = others}});
                  }),
                  StartsWith(std::string("batch_isend_irecv: operation 0: ") +
                             (kind == P2POp::isend ? "send" : "recv") + ": rank " +
                             std::to_string(world.rank()) + " of the world is not in group"));
    world.barrier();
    EXPECT_FALSE(world.iprobe(any_source, {.tag = any_tag}));
    world.barrier();
  });
}

TEST(Batch, WhatFailsAtOnceSaysSoInItsWork) {
  run_world(3, [](ProcessGroup& world) {
    ProcessGroup pair = world.new_group({0, 1});
    if (world.rank() == 1) pair.abort("enough");
    if (world.rank() != 0) return (void)world.barrier();
    const int out = 1;
    int in = 0;
    EXPECT_THROW(pair.recv(std::span(&in, 1), 1), AbortedError);
    std::vector<Work> works = world.batch_isend_irecv({
        {.op = P2POp::isend, .tensor = std::span(&out, 1), .peer = 1, .group = pair},
        {P2POp::isend, std::span(&out, 1), 0},
        {P2POp::irecv, std::span(&in, 1), 0},
    });
    EXPECT_THROW(works[0].wait(), AbortedError);
    works[1].wait();
    works[2].wait();
    EXPECT_EQ(in, 1);
    world.barrier();
  });
}

TEST(Batch, TimesOutByOperation) {
  run_world(2, [](ProcessGroup& world) {
    int in = 0;
    if (world.rank() == 0) {
      std::vector<Work> works = world.batch_isend_irecv({{.op = P2POp::irecv,
                                                          .tensor = std::span(&in, 1),
                                                          .peer = 1,
                                                          .timeout = std::chrono::milliseconds(20)}});
      EXPECT_THROW(works[0].wait(), TimeoutError);
    }
    world.barrier();
  });
}

}  // namespace
}  // namespace parley
