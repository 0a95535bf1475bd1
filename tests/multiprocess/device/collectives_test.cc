// Collectives of device memory between processes: the schedules of the host, told to streams.

#include <gtest/gtest.h>
#include <parley/parley.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "tests/multiprocess/device/device_rank.h"
#include "tests/multiprocess/support/ranks.h"

namespace parley::testing {
namespace {

using cuda::testing::Call;

// Elements of one type on device 0.
template <typename T>
class Elements {
 public:
  Elements(DeviceRank& device, std::size_t count) : count_(count), buffer_(device, count * sizeof(T)) {}
  Elements(DeviceRank& device, const std::vector<T>& values) : Elements(device, values.size()) {
    put(values);
  }
  [[nodiscard]] Tensor tensor() const {
    return Tensor::from_blob(buffer_.data(), count_, dtype_of<T>, {}, Device{Device::cuda, 0});
  }
  void put(const std::vector<T>& values) const {
    std::vector<std::byte> bytes(values.size() * sizeof(T));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    buffer_.upload(bytes);
  }
  [[nodiscard]] std::vector<T> get() const {
    const auto bytes = buffer_.download(count_ * sizeof(T));
    std::vector<T> values(count_);
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }

 private:
  std::size_t count_;
  DeviceBuffer buffer_;
};

std::vector<std::int32_t> given(int rank, std::size_t count) {
  std::vector<std::int32_t> values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = static_cast<std::int32_t>((i * 7 + i / 5) % 1000) + 1000 * rank;
  return values;
}

std::vector<std::int32_t> sum_of_given(int ranks, std::size_t count) {
  std::vector<std::int32_t> sum(count);
  for (int rank = 0; rank < ranks; ++rank) {
    const auto one = given(rank, count);
    for (std::size_t i = 0; i < count; ++i) sum[i] += one[i];
  }
  return sum;
}

constexpr std::array<std::size_t, 5> counts{1, 7, 1000, 20'001, 300'001};

void reduce_and_gather(int rank, int size) {
  DeviceRank device;
  ProcessGroup world = init();
  for (const std::size_t count : counts) {
    const Elements<std::int32_t> in(device, given(rank, count)), out(device, count);
    world.all_reduce(out.tensor(), in.tensor());
    expect(out.get() == sum_of_given(size, count), "all_reduce of " + std::to_string(count));
    expect(in.get() == given(rank, count), "the input is as it was");
    world.all_reduce(in.tensor());
    expect(in.get() == sum_of_given(size, count), "all_reduce in place of " + std::to_string(count));

    in.put(given(rank, count));
    const Elements<std::int32_t> all(device, count * static_cast<std::size_t>(size));
    world.all_gather_into_tensor(all.tensor(), in.tensor());
    std::vector<std::int32_t> wanted;
    for (int other = 0; other < size; ++other) {
      const auto one = given(other, count);
      wanted.insert(wanted.end(), one.begin(), one.end());
    }
    expect(all.get() == wanted, "all_gather of " + std::to_string(count));

    world.reduce_scatter_tensor(out.tensor(), all.tensor());
    auto share = given(rank, count);
    for (std::int32_t& element : share) element *= size;
    expect(out.get() == share, "reduce_scatter of " + std::to_string(count));

    world.broadcast(in.tensor(), size - 1);
    expect(in.get() == given(size - 1, count), "broadcast of " + std::to_string(count));
  }
  world.barrier();
  destroy();
}

TEST(DeviceCollectives, OfTwoThreeAndFourRanks) {
  for (const int size : {1, 2, 3, 4}) EXPECT_EQ(run_ranks(size, reduce_and_gather), 0) << size;
}

TEST(DeviceCollectives, SeveralAtOnceAreOrderedOnTheirStream) {
  const int code = run_ranks(3, [](int rank, int size) {
    constexpr std::size_t count = 5000;
    DeviceRank device;
    ProcessGroup world = init();
    std::vector<std::unique_ptr<Elements<std::int32_t>>> all;
    std::vector<Work> works;
    for (int i = 0; i < 12; ++i)
      all.push_back(std::make_unique<Elements<std::int32_t>>(device, given(rank + i, count)));
    for (const auto& one : all) works.push_back(world.all_reduce(one->tensor(), {.async_op = true}));
    wait_all(works);
    for (int i = 0; i < 12; ++i) {
      auto wanted = sum_of_given(size, count);
      for (std::int32_t& element : wanted) element += 1000 * i * size;
      expect(all[static_cast<std::size_t>(i)]->get() == wanted, "result " + std::to_string(i));
    }
    world.barrier();
    destroy();
  });
  EXPECT_EQ(code, 0);
}

TEST(DeviceCollectives, AveragesAndFactors) {
  const int code = run_ranks(4, [](int rank, int size) {
    constexpr std::size_t count = 1001;
    DeviceRank device;
    ProcessGroup world = init();
    const Elements<float> elements(device, std::vector<float>(count, static_cast<float>(rank)));
    world.all_reduce(elements.tensor(), {.op = ReduceOp::avg});
    expect(elements.get() == std::vector<float>(count, 1.5F), "avg");
    elements.put(std::vector<float>(count, 2.0F));
    world.all_reduce(elements.tensor(), {.op = ReduceOp::premul_sum(0.5)});
    expect(elements.get() == std::vector<float>(count, static_cast<float>(size)), "premul_sum");
    world.barrier();
    destroy();
  });
  EXPECT_EQ(code, 0);
}

TEST(DeviceCollectives, ListsThatLieApart) {
  const int code = run_ranks(3, [](int rank, int size) {
    constexpr std::size_t count = 3000;
    DeviceRank device;
    ProcessGroup world = init();
    std::vector<std::unique_ptr<Elements<std::int32_t>>> ins, outs;
    std::vector<Tensor> in_list, out_list;
    for (int other = 0; other < size; ++other) {
      ins.push_back(std::make_unique<Elements<std::int32_t>>(device, given(10 * rank + other, count)));
      outs.push_back(std::make_unique<Elements<std::int32_t>>(device, count));
      in_list.push_back(ins.back()->tensor());
      out_list.push_back(outs.back()->tensor());
    }
    world.all_to_all(out_list, in_list);
    for (int other = 0; other < size; ++other)
      expect(outs[static_cast<std::size_t>(other)]->get() == given(10 * other + rank, count), "all_to_all");
    world.barrier();
    destroy();
  });
  EXPECT_EQ(code, 0);
}

TEST(DeviceCollectives, WhatADeviceCannotDoIsRefusedBeforeAnythingBegins) {
  const int code = run_ranks(2, [](int, int) {
    DeviceRank device;
    ProcessGroup world = init();
    const Elements<float> on_device(device, std::vector<float>(4, 1.0F));
    std::vector<float> on_host(4);
    const auto mixed =
        expect_throws<UsageError>([&] { world.all_reduce(Tensor(on_host), on_device.tensor()); });
    expect_contains(mixed.what(), "all_reduce: one tensor is on cuda:0, another on cpu");
    const auto own = ReduceOp::custom([](void*, const void*, const void*, std::size_t, DType) {}, true);
    const auto refused =
        expect_throws<UsageError>([&] { world.all_reduce(on_device.tensor(), {.op = own}); });
    expect_contains(refused.what(), "CPU only");
    world.all_reduce(on_device.tensor());
    expect(on_device.get() == std::vector<float>(4, 2.0F), "all_reduce");
    world.barrier();
    destroy();
  });
  EXPECT_EQ(code, 0);
}

// NCCL could not go on with some of them, and who has called what is told before anything is changed.
TEST(DeviceCollectives, MemoryOfTheHostAndOfDevicesDoNotMeet) {
  for (const bool at_first : {true, false}) {
    const int code = run_ranks(3, [at_first](int rank, int) {
      DeviceRank device;
      ProcessGroup world = init();
      auto values = given(rank, 10);
      const Elements<std::int32_t> elements(device, values);
      if (!at_first) world.all_reduce(elements.tensor());
      barrier_before_death(world, 1);  // all ranks are through
      const auto error = expect_throws<MismatchError>([&] {
        if (rank == 1)
          world.all_reduce(elements.tensor());
        else
          world.all_reduce(Tensor(values));
      });
      expect_contains(error.what(), at_first ? "the meeting of a group's ranks" : " i32 on devices");
      destroy();
    });
    EXPECT_EQ(code, 0);
  }
}

TEST(DeviceCollectives, NobodyWaitsForADevice) {
  if (DeviceRank::is_real()) GTEST_SKIP() << "only the streams of a simulated device can be held back";
  const int code = run_ranks(
      3,
      [](int rank, int size) {
        constexpr std::size_t count = 30'000;
        DeviceRank device;
        ProcessGroup world = init();
        const Elements<std::int32_t> source(device, given(rank, count)), elements(device, count);
        device.simulated().hold(cuda::default_stream);
        {
          // What is reduced is only being written.
          const cuda::DeviceScope scope(device.api(), 0);
          expect(device.api().copy(const_cast<std::byte*>(elements.tensor().data()), source.tensor().data(),
                                   count * sizeof(std::int32_t), cuda::default_stream) == cuda::Code::ok,
                 "copy");
        }
        for (int i = 0; i < 3; ++i) world.all_reduce(elements.tensor());  // returns on all ranks
        expect(device.simulated().pending(cuda::default_stream) > 3, "nothing was done yet");
        world.barrier();
        device.simulated().let_go(cuda::default_stream);
        auto wanted = sum_of_given(size, count);
        for (std::int32_t& element : wanted) element *= size * size;
        expect(elements.get() == wanted, "three sums");
        world.barrier();
        destroy();
      },
      over_shm);
  EXPECT_EQ(code, 0);
}

TEST(DeviceCollectives, ASteadyStateNeitherWaitsNorAllocates) {
  if (DeviceRank::is_real()) GTEST_SKIP() << "calls of a simulated device are counted";
  const int code = run_ranks(
      2,
      [](int rank, int) {
        DeviceRank device;
        ProcessGroup world = init();
        const Elements<std::int32_t> elements(device, given(rank, 100'000));
        const auto play = [&] {
          for (int i = 0; i < 20; ++i) world.all_reduce(elements.tensor());
        };
        const auto calls = [&] {
          std::uint64_t sum = device.simulated().waiting_copies();
          for (const Call call :
               {Call::synchronize, Call::synchronize_event, Call::allocate, Call::free, Call::allocate_pinned,
                Call::create_stream, Call::import_memory, Call::export_memory})
            sum += device.simulated().count(call);
          return sum;
        };
        play();
        const std::uint64_t before = calls();
        play();
        expect_equal(calls(), before, "calls that wait, or make something");
        world.barrier();
        destroy();
      },
      over_shm);
  EXPECT_EQ(code, 0);
}

// Also what fails after the last message: the result would be a wrong one.
TEST(DeviceCollectives, FailWhereTheirLastStepIsNotTold) {
  if (DeviceRank::is_real()) GTEST_SKIP() << "only a simulated device fails on demand";
  const int code = run_ranks(2, [](int rank, int) {
    DeviceRank device;
    ProcessGroup world = init();
    const Elements<float> elements(device, std::vector<float>(10, static_cast<float>(rank)));
    world.all_reduce(elements.tensor(), {.op = ReduceOp::avg});
    // The sum is one kernel, and the division after it another.
    const std::uint64_t before = device.simulated().count(Call::launch);
    world.all_reduce(elements.tensor(), {.op = ReduceOp::avg});
    const std::uint64_t launches = device.simulated().count(Call::launch) - before;
    world.barrier();
    for (std::uint64_t i = 1; i < launches; ++i) device.simulated().fail_next(Call::launch, cuda::Code::ok);
    device.simulated().fail_next(Call::launch, cuda::Code::illegal_address);
    expect_throws<Error>([&] { world.all_reduce(elements.tensor(), {.op = ReduceOp::avg}); });
  });
  EXPECT_EQ(code, 0);
}

// Whichever call of a group's first ones it leaves after: only those on the host take part in the meeting.
TEST(DeviceCollectives, WhoLeavesAGroupAfterItsPartDisturbsNobody) {
  for (int barriers = 0; barriers < 6; ++barriers) {
    const int code = run_ranks(3, [barriers](int rank, int size) {
      constexpr std::size_t count = 1000;
      DeviceRank device;
      ProcessGroup world = init();
      ProcessGroup group = world.dup();
      const Elements<std::int32_t> in(device, given(rank, count));
      std::vector<std::unique_ptr<Elements<std::int32_t>>> out;
      std::vector<Tensor> all;
      for (int i = 0; rank == 0 && i < size; ++i) {
        out.push_back(std::make_unique<Elements<std::int32_t>>(device, count));
        all.push_back(out.back()->tensor());
      }
      group.gather(all, in.tensor(), 0);
      for (int i = 0; i < barriers; ++i) group.barrier();
      if (rank == 2) std::this_thread::sleep_for(std::chrono::milliseconds(300));
      group.gather(all, in.tensor(), 0);
      if (rank == 1) group = ProcessGroup();
      world.barrier();
      destroy();
    });
    EXPECT_EQ(code, 0) << barriers << " barriers";
  }
}

}  // namespace
}  // namespace parley::testing
