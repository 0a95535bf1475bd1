// Every collective on devices where the group has NCCL: by NCCL what it has, the rest as ever.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

#include "tests/unit/api/collectives/every_collective.h"
#include "tests/unit/nccl/simulated_world.h"

namespace parley::nccl::testing {
namespace {

using parley::testing::Case;
using ::testing::HasSubstr;

class NcclCollectives : public SimulatedWorld, public ::testing::WithParamInterface<DType> {};

TEST_P(NcclCollectives, GiveWhatTheyGiveOnTheCpu) {
  for (const int size : {2, 5}) {
    parley::testing::run_world(size, [&](ProcessGroup& world) {
      for (const bool in_place : {false, true}) {
        Case of{.count = 7,
                .dtype = GetParam(),
                .root = size / 2,
                .in_place = in_place,
                .device = device_of(world)};
        expect_every_collective(world, of);
        expect_uneven_collectives(world, of);
        of.async_op = true;
        of.count = 3001;
        expect_every_collective(world, of);
      }
    });
  }
  EXPECT_EQ(fabric_->mismatches, 0U);
  EXPECT_EQ(nccl_.live_scaled_sums(), 0U);
  for (const Kind kind : {Kind::broadcast, Kind::all_gather, Kind::send, Kind::receive}) {
    const auto operations = nccl_.operations();
    EXPECT_TRUE(std::any_of(operations.begin(), operations.end(),
                            [&](const Operation& each) { return each.kind == kind; }));
  }
}

INSTANTIATE_TEST_SUITE_P(Types, NcclCollectives,
                         ::testing::Values(DType::f32, DType::i64, DType::f16, DType::u8, DType::i16),
                         [](const auto& of) { return std::string(name(of.param)); });

class NcclGroup : public SimulatedWorld {};

TEST_F(NcclGroup, FoldsAsItSays) {
  parley::testing::run_world(3, [&](ProcessGroup& world) {
    const auto reduced = [&](const ReduceOp& op, auto value,
                             Determinism determinism = Determinism::same_bits) {
      Tensor tensor = filled(4, value, device_of(world));
      world.all_reduce(tensor, {.op = op, .determinism = determinism});
      return last_of<decltype(value)>(tensor);
    };
    const float mine = static_cast<float>(world.rank() + 1);
    EXPECT_EQ(reduced(ReduceOp::sum, mine), 6.0F);
    EXPECT_EQ(reduced(ReduceOp::product, mine), 6.0F);
    EXPECT_EQ(reduced(ReduceOp::avg, mine), 2.0F);
    EXPECT_EQ(reduced(ReduceOp::premul_sum(0.5), mine), 3.0F);
    EXPECT_EQ(reduced(ReduceOp::max, world.rank()), 2);
    EXPECT_EQ(reduced(ReduceOp::max, mine), 3.0F);                           // by Parley
    EXPECT_EQ(reduced(ReduceOp::bor, 1 << world.rank()), 7);                 // likewise
    EXPECT_EQ(reduced(ReduceOp::sum, mine, Determinism::rank_order), 6.0F);  // likewise
  });
  EXPECT_EQ(nccl_.operations().size(), 5U * 3U);
  EXPECT_EQ(nccl_.live_scaled_sums(), 0U);
}

// NCCL would take the factor in 16 bits, too.
TEST_F(NcclGroup, LeavesScaledSumsOf16BitsToParley) {
  parley::testing::run_world(3, [&](ProcessGroup& world) {
    const auto expect_scaled = [&]<typename T>(T /*any*/) {
      Tensor tensor = Tensor::full({4}, world.rank() + 1, dtype_of<T>, device_of(world));
      world.all_reduce(tensor, {.op = ReduceOp::premul_sum(0.3)});
      EXPECT_NEAR(static_cast<float>(last_of<T>(tensor)), 1.8F, 0.01F);
    };
    expect_scaled(float16());
    expect_scaled(bfloat16());
  });
  EXPECT_TRUE(nccl_.operations().empty());
}

// As on our own path, which works on a copy.
TEST_F(NcclGroup, ScalesAnInputThatTheOutputLiesIn) {
  parley::testing::run_world(3, [&](ProcessGroup& world) {
    const Tensor in = filled(12, static_cast<float>(world.rank() + 1), device_of(world));
    const Tensor out = in.narrow(0, 0, 4);
    world.reduce_scatter_tensor(out, in, {.op = ReduceOp::premul_sum(0.5)});
    EXPECT_EQ(last_of<float>(out), 3.0F);
  });
}

TEST_F(NcclGroup, SaysHowItsDevicesWorkTogether) {
  parley::testing::run_world(2, [&](ProcessGroup& world) {
    EXPECT_THAT(world.describe(), ::testing::Not(HasSubstr("devices:")));
    world.all_reduce(ones(world, 1));
    EXPECT_THAT(world.describe(), HasSubstr("devices: NCCL 2.28.9 on cuda:" + std::to_string(world.rank()) +
                                            " (each rank has a device of its own)"));
  });
  EXPECT_EQ(nccl_.count(Call::make_unique_id), 1U);
  EXPECT_EQ(nccl_.count(Call::join), 2U);
}

TEST_F(NcclGroup, GoesWithoutNcclWhereRanksShareADevice) {
  parley::testing::run_world(2, [&](ProcessGroup& world) {
    Tensor tensor = filled(3, 1.0F, Device{Device::cuda, 0});
    world.all_reduce(tensor);
    EXPECT_EQ(last_of<float>(tensor), 2.0F);
    EXPECT_THAT(world.describe(), HasSubstr("devices: without NCCL (ranks 0 and 1 share a device)"));
  });
  EXPECT_EQ(nccl_.count(Call::join), 0U);
}

TEST_F(NcclGroup, FollowsPARLEY_DEVICE_PATH) {
  setenv("PARLEY_DEVICE_PATH", "ipc", 1);
  parley::testing::run_world(2, [&](ProcessGroup& world) {
    world.all_reduce(ones(world, 1));
    EXPECT_THAT(world.describe(), HasSubstr("rank 0 asks for ipc"));
  });
  EXPECT_EQ(nccl_.count(Call::join), 0U);
  setenv("PARLEY_DEVICE_PATH", "nccl", 1);
  parley::testing::run_world(1, [&](ProcessGroup& world) {
    Tensor tensor = ones(world, 3);
    world.all_reduce(tensor);
    EXPECT_EQ(last_of<float>(tensor), 1.0F);
  });
  EXPECT_EQ(nccl_.count(Call::join), 1U);
  parley::testing::run_world(2, [&](ProcessGroup& world) {
    try {
      world.all_reduce(filled(3, 1.0F, Device{Device::cuda, 0}));
      ADD_FAILURE() << "no error";
    } catch (const UsageError& error) {
      EXPECT_STREQ(error.what(), "all_reduce: NCCL is asked for, but ranks 0 and 1 share a device");
    }
  });
  setenv("PARLEY_DEVICE_PATH", "fast", 1);
  EXPECT_THROW(parley::testing::run_world(1, [](ProcessGroup&) {}), UsageError);
}

TEST_F(NcclGroup, ChoosesByItsOptionsUnlessPARLEY_DEVICE_PATHDoes) {
  for (const bool is_set : {false, true}) {
    if (is_set) setenv("PARLEY_DEVICE_PATH", "nccl", 1);
    parley::testing::run_world(2, [&](ProcessGroup& world) {
      ProcessGroup own = world.dup({.device_backend = DeviceBackend::own});
      Tensor tensor = ones(world, 3);
      own.all_reduce(tensor);
      EXPECT_EQ(last_of<float>(tensor), 2.0F);
      EXPECT_THAT(own.describe(),
                  HasSubstr(is_set ? "devices: NCCL 2.28.9" : "without NCCL (rank 0 asks for ipc)"));
      ProcessGroup pair = world.split(0, 0, {.device_backend = DeviceBackend::nccl});
      pair.all_reduce(tensor);
      EXPECT_EQ(last_of<float>(tensor), 4.0F);
      EXPECT_THAT(pair.describe(), HasSubstr("(it is asked for)"));
    });
  }
}

TEST_F(NcclGroup, EachGroupHasACommunicatorOfItsOwn) {
  parley::testing::run_world(4, [&](ProcessGroup& world) {
    ProcessGroup half = world.split(world.rank() % 2, 0, {.name = "half"});
    for (int i = 0; i < 3; ++i) {
      Tensor of_half = ones(world, 100), of_all = ones(world, 100);
      half.all_reduce(of_half);
      world.all_reduce(of_all);
      EXPECT_EQ(last_of<float>(of_half), 2.0F);
      EXPECT_EQ(last_of<float>(of_all), 4.0F);
    }
  });
  EXPECT_EQ(nccl_.count(Call::make_unique_id), 3U);
  EXPECT_EQ(nccl_.count(Call::join), 8U);
  EXPECT_EQ(nccl_.count(Call::destroy), 8U);
  EXPECT_EQ(nccl_.count(Call::abort), 0U);
}

TEST_F(NcclGroup, KeepsTheOrderOfCallsWhateverIsLaunchedInTheBackground) {
  parley::testing::run_world(3, [&](ProcessGroup& world) {
    std::vector<Tensor> tensors;
    std::vector<Work> works;
    for (int i = 0; i < 30; ++i) {
      if (i % 7 == 0) nccl_.launch_in_background(5);
      tensors.push_back(filled(10 + i, static_cast<float>(i), device_of(world)));
      works.push_back(i % 2 == 0 ? world.all_reduce(tensors.back(), {.async_op = true})
                                 : world.broadcast(tensors.back(), i % 3, {.async_op = true}));
    }
    wait_all(works);
    for (int i = 0; i < 30; ++i)
      EXPECT_EQ(last_of<float>(tensors[static_cast<std::size_t>(i)]),
                static_cast<float>(i % 2 == 0 ? 3 * i : i));
  });
  EXPECT_EQ(fabric_->mismatches, 0U);
}

TEST_F(NcclGroup, KeepsTheOrderOfCallsFromStreamToStream) {
  parley::testing::run_world(2, [&](ProcessGroup& world) {
    const cuda::DeviceScope scope(device_, world.rank());
    std::array<cuda::Stream, 2> streams{};
    std::array<Tensor, 2> tensors{ones(world, 3), ones(world, 5)};
    for (cuda::Stream& stream : streams) ASSERT_EQ(device_.create_stream(stream), cuda::Code::ok);
    device_.hold(streams[0], world.rank());
    for (std::size_t i = 0; i < streams.size(); ++i) {
      const StreamGuard guard(streams[i]);
      world.all_reduce(tensors[i]);
    }
    world.barrier();
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_FALSE(device_.is_idle(streams[1]));
    device_.let_go(streams[0], world.rank());
    for (std::size_t i = 0; i < streams.size(); ++i) {
      EXPECT_EQ(device_.synchronize(streams[i]), cuda::Code::ok);
      EXPECT_EQ(last_of<float>(tensors[i]), 2.0F);
      EXPECT_EQ(device_.destroy_stream(streams[i]), cuda::Code::ok);
    }
  });
}

TEST_F(NcclGroup, RefusesAnotherDeviceOfTheSameRank) {
  parley::testing::run_world(2, [&](ProcessGroup& world) {
    world.all_reduce(ones(world, 1));
    Tensor other = filled(1, 1.0F, Device{Device::cuda, world.rank() + 2});
    try {
      world.all_reduce(other);
      ADD_FAILURE() << "no error";
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(), HasSubstr("PARLEY_DEVICE_PATH=ipc"));
    }
  });
}

TEST_F(NcclGroup, IsNotCapturedIntoAGraph) {
  parley::testing::run_world(2, [&](ProcessGroup& world) {
    cuda::Stream stream = nullptr;
    const cuda::DeviceScope scope(device_, world.rank());
    ASSERT_EQ(device_.create_stream(stream), cuda::Code::ok);
    {
      const StreamGuard guard(stream);
      Tensor tensor = ones(world, 1);
      PersistentRequest receive = world.recv_init(tensor, 1 - world.rank());
      world.barrier();
      if (world.rank() == 0) {
        device_.pretend_capture(stream);
        EXPECT_THROW(world.all_reduce(tensor), UsageError);
        EXPECT_THROW(world.send(tensor, 1), UsageError);
        EXPECT_THROW(receive.start(), UsageError);
        EXPECT_THROW(start_all(std::span(&receive, 1)), UsageError);
        device_.pretend_capture(nullptr);
        const StreamGuard per_thread(reinterpret_cast<void*>(std::uintptr_t{2}));  // CU_STREAM_PER_THREAD
        EXPECT_THROW(receive.start(), UsageError);
      }
      world.all_reduce(tensor);
      EXPECT_EQ(last_of<float>(tensor), 2.0F);
    }
    EXPECT_EQ(device_.synchronize(stream), cuda::Code::ok);
    EXPECT_EQ(device_.destroy_stream(stream), cuda::Code::ok);
  });
}

}  // namespace
}  // namespace parley::nccl::testing
