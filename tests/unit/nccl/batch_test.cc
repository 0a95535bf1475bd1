// Batches of sends and receives on devices, as one operation of NCCL.
#include <gmock/gmock.h>
#include <parley/batch.h>

#include <chrono>
#include <string>
#include <vector>

#include "tests/unit/nccl/simulated_world.h"

namespace parley::nccl::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;

class NcclBatch : public SimulatedWorld {
 protected:
  [[nodiscard]] std::size_t messages() const { return nccl_.operations().size(); }
};

TEST_F(NcclBatch, GoesRoundARingWithItsSizesAndStatuses) {
  constexpr int size = 4;
  parley::testing::run_world(size, [&](ProcessGroup& world) {
    const int next = (world.rank() + 1) % size, previous = (world.rank() + size - 1) % size;
    for (const std::int64_t count : {1, 3, 5000, 100'000}) {
      const Tensor out = filled(count, world.rank() + 10, device_of(world));
      const Tensor in = filled(count, -1, device_of(world));
      std::vector<Work> works =
          world.batch_isend_irecv({P2POp{P2POp::isend, out, next}, P2POp{P2POp::irecv, in, previous}});
      ASSERT_EQ(works.size(), 2U);
      const RecvStatus status = works[1].wait();
      EXPECT_EQ(status.source, previous);
      EXPECT_EQ(status.tag, 0);
      EXPECT_EQ(status.bytes, in.bytes());
      works[0].wait();
      EXPECT_EQ(last_of<int>(in), previous + 10);
    }
  });
  EXPECT_EQ(messages(), std::size_t{size} * 2 * 4);
}

TEST_F(NcclBatch, OfManyWithOneself) {
  parley::testing::run_world(3, [&](ProcessGroup& world) {
    std::vector<P2POp> ops;
    std::vector<Tensor> ins;
    for (int round = 0; round < 3; ++round)
      for (int peer = 0; peer < 3; ++peer) {
        ins.push_back(filled(7 + round, -1, device_of(world)));
        ops.push_back({P2POp::irecv, ins.back(), peer});
        ops.push_back({P2POp::isend, filled(7 + round, 100 * round + world.rank(), device_of(world)), peer});
      }
    std::vector<Work> works = world.batch_isend_irecv(ops);
    wait_all(works);
    for (int round = 0; round < 3; ++round)
      for (int peer = 0; peer < 3; ++peer)
        EXPECT_EQ(last_of<int>(ins[static_cast<std::size_t>(3 * round + peer)]), 100 * round + peer);
  });
  EXPECT_EQ(messages(), 3U * 18U);
}

TEST_F(NcclBatch, WithATagOrAnySourceOrOnTheHostMatchesOnTheHost) {
  parley::testing::run_world(2, [&](ProcessGroup& world) {
    const int other = 1 - world.rank();
    world.all_reduce(ones(world, 1));
    const Tensor out = filled(9, world.rank(), device_of(world)), in = filled(9, -1, device_of(world));
    auto works = world.batch_isend_irecv({P2POp{.op = P2POp::isend, .tensor = out, .peer = other, .tag = 5},
                                          P2POp{.op = P2POp::irecv, .tensor = in, .peer = other, .tag = 5}});
    wait_all(works);
    EXPECT_EQ(last_of<int>(in), other);
    works = world.batch_isend_irecv({P2POp{.op = P2POp::isend, .tensor = out, .peer = other, .tag = 6},
                                     P2POp{.op = P2POp::irecv, .tensor = in, .peer = any_source, .tag = 6}});
    wait_all(works);
    world.sendrecv(out, other, in, other);  // single ones
    EXPECT_EQ(last_of<int>(in), other);
  });
  EXPECT_EQ(messages(), 2U);  // the all_reduce
}

TEST_F(NcclBatch, WhereTheOtherRankDoesNotComeItIsNamedAndTheDeviceIsFree) {
  parley::testing::run_world(2, [&](ProcessGroup& world) {
    const int other = 1 - world.rank();
    const Tensor tensor = ones(world, 4);
    world.all_reduce(tensor);
    if (world.rank() == 0) {
      auto works = world.batch_isend_irecv(
          {P2POp{P2POp::irecv, tensor, other, 0, {}, std::chrono::nanoseconds(300ms)}});
      try {
        works[0].wait();
        ADD_FAILURE() << "no error";
      } catch (const TimeoutError& error) {
        EXPECT_THAT(error.what(), AllOf(HasSubstr("recv(16 B, in a batch by NCCL) from rank 1"),
                                        HasSubstr("fused batches of the world"), HasSubstr("timed out")));
        EXPECT_EQ(error.details().bytes, 16U);
        EXPECT_EQ(error.details().tag, 0);
      }
      const cuda::DeviceScope scope(device_, 0);
      EXPECT_EQ(device_.synchronize(cuda::default_stream), cuda::Code::ok);
    }
    EXPECT_THROW(
        {
          for (;;) world.barrier();
        },
        Error);
  });
}

TEST_F(NcclBatch, OfAnotherSizeIsTold) {
  parley::testing::run_world(2, [&](ProcessGroup& world) {
    const int other = 1 - world.rank();
    world.all_reduce(ones(world, 1));
    const bool sends = world.rank() == 0;
    auto works = world.batch_isend_irecv({P2POp{sends ? P2POp::isend : P2POp::irecv,
                                                ones(world, sends ? 4 : 5),
                                                other,
                                                0,
                                                {},
                                                std::chrono::nanoseconds(sends ? 2s : 300ms)}});
    try {
      works[0].wait();
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      if (!sends) {
        EXPECT_THAT(error.what(), HasSubstr("1 unmatched message from rank 0: 16 B, f32"));
      }
    }
  });
}

TEST_F(NcclBatch, FailsAtOnceWhereTheGroupsCollectivesAreOver) {
  parley::testing::run_world(2, [&](ProcessGroup& world) {
    const Tensor tensor = ones(world, 4);
    world.all_reduce(tensor);
    const std::vector<int> out(1);
    std::vector<int> in(1);
    world.sendrecv(out, 1 - world.rank(), in, 1 - world.rank());  // both are through
    if (world.rank() == 0) world.abort("enough");
    EXPECT_THROW(
        {
          for (;;) world.barrier();
        },
        AbortedError);
    try {
      (void)world.batch_isend_irecv({P2POp{P2POp::isend, tensor, 1 - world.rank()}});
      ADD_FAILURE() << "no error";
    } catch (const AbortedError& error) {
      EXPECT_THAT(error.what(), HasSubstr("enough"));
    }
  });
}

TEST_F(NcclBatch, OfWorksThatNobodyWaitsFor) {
  parley::testing::run_world(2, [&](ProcessGroup& world) {
    const int other = 1 - world.rank();
    const Tensor in = filled(3, -1, device_of(world));
    for (int i = 0; i < 20; ++i)
      (void)world.batch_isend_irecv(
          {P2POp{P2POp::isend, filled(3, i, device_of(world)), other}, P2POp{P2POp::irecv, in, other}});
    world.barrier();
    EXPECT_EQ(last_of<int>(in), 19);
  });
}

TEST_F(NcclBatch, LaunchedInTheBackground) {
  parley::testing::run_world(2, [&](ProcessGroup& world) {
    const int other = 1 - world.rank();
    world.all_reduce(ones(world, 1));
    for (int i = 0; i < 5; ++i) {
      nccl_.launch_in_background(4);
      const Tensor in = filled(3, -1, device_of(world));
      auto works = world.batch_isend_irecv(
          {P2POp{P2POp::isend, filled(3, i, device_of(world)), other}, P2POp{P2POp::irecv, in, other}});
      wait_all(works);
      EXPECT_EQ(last_of<int>(in), i);
    }
  });
}

}  // namespace
}  // namespace parley::nccl::testing
