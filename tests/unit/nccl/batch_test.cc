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

TEST_F(NcclBatch, WhatARankSendsItselfHasToBeReceivedByTheSameBatch) {
  parley::testing::run_world(2, [&](ProcessGroup& world) {
    const int self = world.rank(), other = 1 - self;
    const Tensor out = filled(4, self, device_of(world)), in = filled(4, -1, device_of(world));
    const Tensor longer = filled(5, -1, device_of(world)), empty = filled(0, 0, device_of(world));
    const P2POp send{P2POp::isend, out, self}, receive{P2POp::irecv, in, self};
    const auto error_of = [&](std::initializer_list<P2POp> ops) -> std::string {
      try {
        (void)world.batch_isend_irecv(ops);
      } catch (const UsageError& error) {
        EXPECT_EQ(error.details().rank, self);
        EXPECT_EQ(error.details().peer, self);
        return error.what();
      }
      return "no error";
    };
    const P2POp to_other{P2POp::isend, out, other}, from_other{P2POp::irecv, in, other};
    EXPECT_THAT(error_of({to_other, send, from_other}),
                AllOf(HasSubstr("batch_isend_irecv: 1 send to this rank itself, and 0 receives from it"),
                      HasSubstr("in the same batch")));
    EXPECT_THAT(error_of({receive, send, receive}), HasSubstr("1 send to this rank itself, and 2 receives"));
    EXPECT_THAT(error_of({P2POp{P2POp::isend, empty, self}}), HasSubstr("1 send"));
    EXPECT_THAT(error_of({send, receive, send, P2POp{P2POp::irecv, longer, self}}),
                HasSubstr("send 1 to this rank itself has 16 B, receive 1 from it 20 B"));
    EXPECT_EQ(nccl_.count(Call::begin_group), 0U);
    world.barrier();
    auto works = world.batch_isend_irecv({send, receive, to_other, from_other});  // all goes on
    wait_all(works);
  });
}

TEST_F(NcclBatch, ToOneselfIsRefusedByNcclWhereNothingReceivesIt) {
  const cuda::DeviceScope scope(device_, 0);
  UniqueId id{};
  Communicator communicator = nullptr;
  std::byte* memory = nullptr;
  ASSERT_EQ(device_.allocate(32, memory), cuda::Code::ok);
  ASSERT_EQ(nccl_.make_unique_id(id), Result::success);
  ASSERT_EQ(nccl_.join(id, {}, communicator), Result::in_progress);
  ASSERT_EQ(nccl_.state(communicator), Result::success);
  (void)nccl_.begin_group();
  (void)nccl_.send(memory, 16, Type::u8, 0, communicator, cuda::default_stream);
  (void)nccl_.receive(memory + 16, 8, Type::u8, 0, communicator, cuda::default_stream);
  EXPECT_EQ(nccl_.end_group(), Result::invalid_usage);
  EXPECT_EQ(messages(), 0U);
  (void)nccl_.abort(communicator);
  (void)device_.free(memory);
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
