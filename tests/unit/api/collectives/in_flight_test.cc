// Several collectives at once, and the barrier that names who has not come.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <parley/parley.h>
#include <parley/testing.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <vector>

#include "tests/unit/api/collectives/values.h"
#include "tests/unit/api/error_text.h"

namespace parley {
namespace {

using testing::error_text;
using ::testing::HasSubstr;
using testing::run_world;
using namespace std::chrono_literals;

TEST(CollectivesInFlight, MoreThanAGroupTakesWaitForTheOldest) {
  run_world(3, [](ProcessGroup& group) {
    constexpr int calls = 200;
    std::vector<std::vector<int>> buffers;
    for (int i = 0; i < calls; ++i) buffers.emplace_back(100, group.rank() + i);
    std::vector<Work> works;
    for (auto& buffer : buffers) works.push_back(group.all_reduce(buffer, {.async_op = true}));
    wait_all(works);
    for (int i = 0; i < calls; ++i) EXPECT_EQ(buffers[i], std::vector<int>(100, 3 + 3 * i));
  });
}

TEST(CollectivesInFlight, DifferentOnesEndInAnyOrderOfWaiting) {
  run_world(4, [](ProcessGroup& group) {
    const Tensor sum = Tensor::full(30'000, group.rank()), sent = Tensor::full(3, group.rank());
    std::vector<Tensor> list;
    for (int i = 0; i < 4; ++i) list.push_back(Tensor::zeros(3));
    Work first = group.all_reduce(sum, {.async_op = true});
    Work second = group.all_gather(list, sent, {.async_op = true});
    Work third = group.broadcast(sent, 2, {.async_op = true});
    third.wait();
    second.wait();
    first.wait();
    EXPECT_EQ(testing::values_of(sum), testing::Values(30'000, 6));
    EXPECT_EQ(testing::values_of(sent), testing::Values(3, 2));
  });
}

TEST(CollectivesInFlight, ManyGroupsDoNotMeet) {
  run_world(4, [](ProcessGroup& world) {
    std::vector<ProcessGroup> groups;
    for (int i = 0; i < 4; ++i) groups.push_back(world.dup());
    groups.push_back(world.split(world.rank() % 2));
    std::vector<std::vector<double>> buffers(groups.size() * 5, std::vector<double>(500));
    std::vector<Work> works;
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      buffers[i].assign(500, world.rank() + static_cast<double>(i));
      works.push_back(groups[i % groups.size()].all_reduce(buffers[i], {.async_op = true}));
    }
    wait_all(works);
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      const bool is_half = i % groups.size() == groups.size() - 1;
      const double ranks = is_half ? 2.0 * (world.rank() % 2) + 2 : 6;
      EXPECT_EQ(buffers[i], std::vector<double>(500, ranks + (is_half ? 2.0 : 4.0) * static_cast<double>(i)));
    }
  });
}

TEST(CollectivesInFlight, TheMemoryOfTensorsOutlivesThem) {
  run_world(2, [](ProcessGroup& group) {
    const Tensor out = Tensor::zeros(200'000);
    std::vector<Work> works;
    works.push_back(group.all_reduce(out, Tensor::ones(200'000), {.async_op = true}));
    works.push_back(group.all_gather({Tensor::zeros(50'000), Tensor::zeros(50'000)}, Tensor::ones(50'000),
                                     {.async_op = true}));
    wait_all(works);
    EXPECT_EQ(testing::values_of(out), testing::Values(200'000, 2));
  });
}

// The other rank comes when this one has begun, and dropped what it has begun with.
void let_come(ProcessGroup& group) {
  if (group.rank() == 0) group.send(1, 1);
}
void wait_for_the_first(ProcessGroup& group) {
  if (group.rank() == 1) group.recv<int>(0);
}

TEST(CollectivesInFlight, AReductionOfItsOwnLastsAsLong) {
  run_world(2, [](ProcessGroup& group) {
    const Tensor data = Tensor::full(70'000, group.rank() + 1), scaled = data.clone();
    std::vector<Work> works;
    std::weak_ptr<float> kept;
    wait_for_the_first(group);
    {
      const auto bias = std::make_shared<float>(10);
      kept = bias;
      const auto add = [bias](void* result, const void* left, const void* right, std::size_t count, DType) {
        for (std::size_t i = 0; i < count; ++i)
          static_cast<float*>(result)[i] =
              static_cast<const float*>(left)[i] + static_cast<const float*>(right)[i] + *bias;
      };
      works.push_back(group.all_reduce(data, {.op = ReduceOp::custom(add, true), .async_op = true}));
      works.push_back(group.all_reduce(scaled, {.op = ReduceOp::premul_sum(2.0), .async_op = true}));
    }
    let_come(group);
    wait_all(works);
    EXPECT_TRUE(kept.expired());
    EXPECT_EQ(testing::values_of(data), testing::Values(70'000, 13));
    EXPECT_EQ(testing::values_of(scaled), testing::Values(70'000, 6));
  });
}

TEST(CollectivesInFlight, AListIsNeededForTheCallOnly) {
  run_world(2, [](ProcessGroup& group) {
    const Tensor out = Tensor::zeros(1000);
    wait_for_the_first(group);
    Work work = [&] {
      const std::vector<Tensor> in{Tensor::full(1000, 1), Tensor::full(1000, 2)};
      return group.reduce_scatter(out, in, {.async_op = true});
    }();
    let_come(group);
    work.wait();
    EXPECT_EQ(testing::values_of(out), testing::Values(1000, 2 + 2 * group.rank()));
  });
}

// A group keeps 64 plans.
TEST(CollectivesInFlight, APlanLastsAsLongAsItIsUsed) {
  run_world(3, [](ProcessGroup& group) {
    if (group.rank() == 2) group.recv<int>(0);
    const Tensor sum = Tensor::full(30'000, group.rank());
    Work work = group.all_reduce(sum, {.async_op = true});
    for (int i = 1; i <= 70; ++i) group.broadcast(Tensor::zeros(i), 0);
    if (group.rank() == 0) group.send(1, 2);
    work.wait();
    EXPECT_EQ(testing::values_of(sum), testing::Values(30'000, 3));
  });
}

TEST(CollectivesInFlight, ABarrierEndsWhenAllHaveCome) {
  for (const int size : {1, 2, 3, 7})
    run_world(size, [&](ProcessGroup& group) {
      for (int late = 0; late < size; ++late) {
        if (group.rank() == late) {
          for (int other = 0; other < size; ++other)
            if (other != late) group.recv<int>(other);
          group.barrier();
          continue;
        }
        Work work = group.barrier({.async_op = true});
        EXPECT_FALSE(work.test());
        group.send(1, late);
        work.wait();
      }
    });
}

TEST(CollectivesInFlight, SeveralBarriersAreToldApart) {
  run_world(4, [](ProcessGroup& group) {
    std::vector<Work> works;
    for (int i = 0; i < 20; ++i) works.push_back(group.barrier({.async_op = true}));
    wait_all(works);
  });
}

TEST(MonitoredBarrier, ReturnsWhenAllHaveCome) {
  for (const int size : {1, 2, 5})
    run_world(size, [](ProcessGroup& group) {
      for (int i = 0; i < 3; ++i) group.monitored_barrier();
      group.barrier();
      group.monitored_barrier({.timeout = 20s});
    });
}

TEST(MonitoredBarrier, NamesOnAllRanksWhoHasNotCome) {
  run_world(4, [](ProcessGroup& group) {
    const auto text = [&] {
      return error_text<TimeoutError>([&] { group.monitored_barrier({.timeout = 100ms}); });
    };
    if (group.rank() % 2 == 1) {  // they come when it is over
      group.recv<int>(0);
      EXPECT_THAT(text(), HasSubstr("monitored_barrier failed on rank 0"));
      return;
    }
    EXPECT_THAT(text(), HasSubstr("ranks 1, 3 have not come"));
    if (group.rank() != 0) return;
    group.send(1, 1);
    group.send(1, 3);
  });
}

TEST(MonitoredBarrier, LeavesTheCollectivesAsTheyAre) {
  run_world(2, [](ProcessGroup& group) {
    const Tensor data = Tensor::ones({8}, DType::i32);
    Work pending;
    if (group.rank() == 0) {
      pending = group.all_reduce(data, {.async_op = true});
      EXPECT_THAT(error_text<TimeoutError>([&] { group.monitored_barrier({.timeout = 30ms}); }),
                  HasSubstr("rank 1 has not come"));
      group.send(1, 1);
    } else {
      group.recv<int>(0);
      EXPECT_THROW(group.monitored_barrier(), TimeoutError);
      pending = group.all_reduce(data, {.async_op = true});
    }
    pending.wait();
    EXPECT_EQ(data.data_as<std::int32_t>()[7], 2);
    group.monitored_barrier();
    group.barrier();
  });
}

// Nor does it end the call that has the same number modulo those that are remembered.
TEST(CollectivesInFlight, AnOldCallThatEndsLateLeavesNewerOnesAlone) {
  constexpr int remembered = 128;
  testing::run_world(2, [](ProcessGroup& world) {
    ProcessGroup group = world.new_group({0, 1}, {.algorithms = "reduce=chain"});
    const Tensor own = Tensor::zeros({4}), large = Tensor::full({8 << 20}, 1), small = Tensor::zeros({2});
    const std::vector<Tensor> all{Tensor::zeros({4}), Tensor::zeros({4})};
    if (world.rank() == 0) {
      Work oldest = group.gather(all, own, 0, {.async_op = true});
      for (int i = 1; i < remembered; ++i) group.broadcast(small, 0);  // which it only sends
      Work newest = group.reduce(large, 0, {.async_op = true});
      world.send(1, 1);
      oldest.wait();
      int more = 0;  // not so many that rank 0 would have to wait until rank 1 takes some
      for (; more < 1000 && !newest.test(); ++more) {
        for (int look = 0; look < 200 && !newest.test(); ++look) {
        }
        group.broadcast(small, 0);
      }
      newest.wait();
      world.send(more, 1);
    } else {
      (void)world.recv<int>(0);
      group.gather({}, own, 0);
      for (int i = 1; i < remembered; ++i) group.broadcast(small, 0);
      group.reduce(large, 0);
      for (int more = world.recv<int>(0); more > 0; --more) group.broadcast(small, 0);
    }
  });
}

}  // namespace
}  // namespace parley
