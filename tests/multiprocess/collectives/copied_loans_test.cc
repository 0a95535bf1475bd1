// Large ordinary buffers of an all_reduce, which ranks copy out of each other's process where stages are
// slow: right results whoever has which memory, and an end where that is not allowed any more.
#include <gtest/gtest.h>
#include <parley/parley.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/long_tests.h"
#include "tests/multiprocess/collectives/copies.h"
#include "tests/multiprocess/support/random.h"
#include "tests/multiprocess/support/ranks.h"
#include "tests/sanitizer.h"
#include "tests/unit/shm/refuse_calls.h"

namespace parley::testing {
namespace {

using transport::shm::testing::refuse_calls;

constexpr std::int64_t count = 1'100'001;  // of i32: more than PlanCache::least_copied_bytes

Tensor make(ProcessGroup& world, bool is_shared, std::int64_t elements = count) {
  return is_shared ? world.shared_tensor({elements}, DType::i32) : Tensor::empty({elements}, DType::i32);
}

void fill(const Tensor& tensor, std::int32_t salt) {
  std::int32_t at = salt;
  for (std::int32_t& element : tensor.data_as<std::int32_t>()) element = at++ % 1'000;
}

Work reduce(ProcessGroup& world, const Tensor& output, const Tensor& input, bool is_async = false) {
  if (input.numel() == static_cast<std::size_t>(count))
    keep_pace(schedule::Operation::all_reduce, input.bytes());
  return world.all_reduce(output, input, {.async_op = is_async});
}
void reduce(ProcessGroup& world, const Tensor& tensor) {
  reduce(world, tensor, tensor);
}
// So that it is known which way is faster.
void settle(ProcessGroup& world) {
  const Tensor data = make(world, false);
  for (int call = 0; call < settled; ++call) reduce(world, data);
}

// Of two inputs that were filled with these salts.
void expect_sum(const Tensor& result, std::int32_t one, std::int32_t other) {
  std::int32_t at = 0;
  for (const std::int32_t element : result.data_as<std::int32_t>()) {
    const std::int32_t wanted = (one + at) % 1'000 + (other + at) % 1'000;
    if (element != wanted) return expect_equal(element, wanted, "element " + std::to_string(at));
    ++at;
  }
}

// Each buffer of each rank lies in the arena or in ordinary memory, and some calls are too small to be
// copied.
TEST(CopiedLoans, GiveTheRightElementsWhereverBuffersLie) {
  static const int rounds = long_tests() ? 48 : sanitizer::is_on ? 8 : 16;
  const auto run = [](int rank, int) {
    clock_of_stages = stages_are_slow;
    ProcessGroup world = init_with_boards();
    settle(world);
    for (int round = 0; round < rounds; ++round) {
      Random random(static_cast<std::uint64_t>(round));
      const std::int64_t elements = random.next() % 4 == 0 ? 70'001 : count;
      const bool in_place = random.next() % 2 == 0;
      std::uint64_t places = random.next();
      if (rank == 1) places >>= 8;
      const Tensor input = make(world, places % 2 == 0, elements);
      const Tensor output = in_place ? input : make(world, places / 2 % 2 == 0, elements);
      for (int call = 0; call < 3; ++call) {
        fill(input, 7 * rank + round + call);
        if (Work work = reduce(world, output, input, round % 2 != 0); round % 2 != 0) work.wait();
        expect_sum(output, round + call, 7 + round + call);
      }
    }
    destroy();
  };
  EXPECT_EQ(run_ranks(2, run, over_shm), 0);
}

// Half of the input, and half of the result; of what is shared nothing, once the other one has mapped it.
TEST(CopiedLoans, AreMadeOfOrdinaryMemoryAlone) {
  const auto run = [](int, int) {
    clock_of_stages = stages_are_slow;
    ProcessGroup world = init_with_boards();
    settle(world);
    for (const bool is_shared : {false, true}) {
      const Tensor data = make(world, is_shared);
      std::vector<std::int32_t> wait_for(1, 1);
      for (int call = 0; wait_for[0] != 0; ++call) {
        const std::size_t before = copied_bytes;
        reduce(world, data);
        const auto copied = static_cast<std::int64_t>(copied_bytes - before);
        const std::int64_t wanted = is_shared ? 0 : count * 4;
        const bool is_so = copied >= wanted - 4 && copied <= wanted + 4;
        expect(is_so || call < 2'000, "so many bytes are copied: " + std::to_string(copied));
        wait_for[0] = is_so ? 0 : 1;
        world.all_reduce(wait_for);
      }
    }
    destroy();
  };
  EXPECT_EQ(run_ranks(2, run, over_shm), 0);
}

// In the middle of a call, which was possible when it began.
TEST(CopiedLoans, ThatFailEndTheCallAndSayWhose) {
  for (const int error : {EFAULT, EPERM}) {
    const auto run = [error](int, int) {
      clock_of_stages = stages_are_slow;
      ProcessGroup world = init_with_boards();
      settle(world);
      const Tensor data = make(world, false);
      expect_failing_copies_to_end(world, error, [&] { reduce(world, data); });
      destroy();
    };
    EXPECT_EQ(run_ranks(2, run, over_shm), 0) << error;
  }
}

// It tries before each call, tells the others, and nobody lends ordinary memory.
TEST(CopiedLoans, AreNotMadeByWhoMayNotReadAnyMore) {
  const auto run = [](int rank, int) {
    clock_of_stages = stages_are_slow;
    ProcessGroup world = init_with_boards();
    settle(world);
    const Tensor data = make(world, false), shared = make(world, true);
    for (int call = 0; call < 20; ++call) {
      if (rank == 1 && call == 10) refuse_calls({refused_copies});
      for (const Tensor& each : {data, shared}) {
        fill(each, rank + call);
        reduce(world, each);
        expect_sum(each, call, 1 + call);
      }
    }
    world.barrier();
    destroy();
  };
  EXPECT_EQ(run_ranks(2, run, over_shm), 0);
}

TEST(CopiedLoans, AreNotMadeWhereStagesAreFast) {
  const auto run = [](int rank, int) {
    clock_of_stages = stages_are_fast;
    ProcessGroup world = init_with_boards();
    settle(world);
    const Tensor data = make(world, false);
    const std::size_t tried = copied_bytes;
    for (int call = 0; call < 10; ++call) {
      fill(data, rank + call);
      reduce(world, data);
      expect_sum(data, call, 1 + call);
    }
    expect_equal(copied_bytes - tried, 0U, "copied bytes");
    destroy();
  };
  EXPECT_EQ(run_ranks(2, run, over_shm), 0);
}

TEST(CopiedLoans, AreNotMadeWhereThatIsForbidden) {
  const auto run = [](int rank, int) {
    clock_of_stages = stages_are_slow;
    ProcessGroup world = init_with_boards();
    settle(world);
    const Tensor data = make(world, false), shared = make(world, true);
    for (int call = 0; call < 10; ++call)
      for (const Tensor& each : {data, shared}) {
        fill(each, rank + call);
        reduce(world, each);
        expect_sum(each, call, 1 + call);
      }
    expect_equal(copied_bytes.load(), 0U, "copied bytes");
    destroy();
  };
  EXPECT_EQ(run_ranks(2, run, {.environment = {{"PARLEY_TRANSPORTS", "shm,^cma"}}}), 0);
}

}  // namespace
}  // namespace parley::testing
