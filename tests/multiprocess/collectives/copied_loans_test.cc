// Large ordinary buffers of an all_reduce, which ranks copy out of each other's process: right results
// whoever has which memory, and an end where that is not allowed any more.
#include <gtest/gtest.h>
#include <parley/parley.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/multiprocess/support/random.h"
#include "tests/multiprocess/support/ranks.h"
#include "tests/unit/shm/refuse_calls.h"

namespace parley::testing {
namespace {

using transport::shm::testing::refuse_calls;
using transport::shm::testing::RefusedCall;

const RanksOptions over_shm{.environment = {{"PARLEY_TRANSPORTS", "shm"}}};
constexpr std::int64_t count = 1'100'001;  // i32: more than 4 MiB

Tensor make(ProcessGroup& world, bool is_shared, std::int64_t elements = count) {
  return is_shared ? world.shared_tensor({elements}, DType::i32) : Tensor::empty({elements}, DType::i32);
}

void fill(const Tensor& tensor, std::int32_t salt) {
  std::int32_t at = salt;
  for (std::int32_t& element : tensor.data_as<std::int32_t>()) element = at++ % 1'000;
}

// `inputs_added`: what stands at element i of the result, of both ranks' inputs.
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
  const auto run = [](int rank, int) {
    ProcessGroup world = init();
    for (int i = 0; i < 6; ++i) world.barrier();
    for (int round = 0; round < 24; ++round) {
      Random random(static_cast<std::uint64_t>(round));
      const std::int64_t elements = random.next() % 4 == 0 ? 70'001 : count;
      const bool in_place = random.next() % 2 == 0;
      std::uint64_t places = random.next();
      if (rank == 1) places >>= 8;
      const Tensor input = make(world, places % 2 == 0, elements);
      const Tensor output = in_place ? input : make(world, places / 2 % 2 == 0, elements);
      for (int call = 0; call < 3; ++call) {
        fill(input, 7 * rank + round + call);
        if (round % 2 == 0)
          world.all_reduce(output, input);
        else
          world.all_reduce(output, input, {.async_op = true}).wait();
        expect_sum(output, round + call, 7 + round + call);
      }
    }
    destroy();
  };
  EXPECT_EQ(run_ranks(2, run, over_shm), 0);
}

const RefusedCall refused_reads{SYS_process_vm_readv, EPERM};

// It tries before each call, tells the others, and nobody lends ordinary memory.
TEST(CopiedLoans, AreNotMadeByWhoMayNotReadAnyMore) {
  const auto run = [](int rank, int) {
    ProcessGroup world = init();
    const Tensor data = make(world, false), shared = make(world, true);
    for (int call = 0; call < 20; ++call) {
      if (rank == 1 && call == 10) refuse_calls({refused_reads});
      for (const Tensor& each : {data, shared}) {
        fill(each, rank + call);
        world.all_reduce(each);
        expect_sum(each, call, 1 + call);
      }
    }
    world.barrier();
    destroy();
  };
  EXPECT_EQ(run_ranks(2, run, over_shm), 0);
}

TEST(CopiedLoans, AreNotMadeWhereThatIsForbidden) {
  const auto run = [](int rank, int) {
    if (rank == 1) refuse_calls({refused_reads});
    ProcessGroup world = init();
    const Tensor data = make(world, false), shared = make(world, true);
    for (int call = 0; call < 10; ++call)
      for (const Tensor& each : {data, shared}) {
        fill(each, rank + call);
        world.all_reduce(each);
        expect_sum(each, call, 1 + call);
      }
    destroy();
  };
  for (const char* transports : {"shm,^cma", "shm"})
    EXPECT_EQ(run_ranks(2, run, {.environment = {{"PARLEY_TRANSPORTS", transports}}}), 0) << transports;
}

}  // namespace
}  // namespace parley::testing
