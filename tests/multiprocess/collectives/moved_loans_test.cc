// Large ordinary buffers of collectives that only move what is there, which ranks copy out of each other's
// process in one piece where stages have been slow: right elements whoever has which memory, and an end where
// that is not allowed any more.
#include <gtest/gtest.h>
#include <parley/parley.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "tests/multiprocess/collectives/copies.h"
#include "tests/multiprocess/support/random.h"
#include "tests/multiprocess/support/ranks.h"
#include "tests/sanitizer.h"
#include "tests/unit/shm/refuse_calls.h"

namespace parley::testing {
namespace {

using transport::shm::testing::refuse_calls;

constexpr std::int64_t block = 300'001;  // elements, of i32: more than PlanCache::least_scattered_bytes

enum class Movement { all_to_all, scatter, all_gather };
constexpr std::array movements{Movement::all_to_all, Movement::scatter, Movement::all_gather};

// What rank `from` has for rank `to`, which is the same for all in an all_gather: a piece of one long row.
std::span<const std::int32_t> content(int from, int to, int salt) {
  constexpr std::int64_t pieces = 65'521;
  static const std::vector<std::int32_t> row = [] {
    std::vector<std::int32_t> numbers(block + pieces);
    std::iota(numbers.begin(), numbers.end(), 0);
    return numbers;
  }();
  return std::span(row).subspan((from * 64 + to + salt * 4096) % pieces, block);
}

// One movement between buffers that stay the same, of one rank.
class Mover {
 public:
  Mover(ProcessGroup& world, Movement movement, bool shares_input, bool shares_output, bool in_place)
      : world_(world),
        movement_(movement),
        rank_(world.rank()),
        parts_in_(movement == Movement::all_gather || !has_input() ? 1 : world.size()),
        parts_out_(movement == Movement::scatter ? 1 : world.size()),
        in_(make(shares_input, parts_in_)),
        out_(make(shares_output, parts_out_)) {
    if (in_place && movement == Movement::all_to_all) out_ = in_;
    if (in_place && movement == Movement::all_gather) in_ = out_.narrow(0, rank_ * block, block);
    if (in_place && movement == Movement::scatter && has_input()) out_ = in_.narrow(0, rank_ * block, block);
  }

  void call(int salt, bool is_async) {
    fill(salt);
    Work work = start(is_async);
    if (is_async) work.wait();
    check(salt);
  }
  void call_unchecked() { (void)start(false); }
  Work begin(int salt) {
    fill(salt);
    return start(true);
  }
  void check(int salt) const {
    for (int part = 0; part < parts_out_; ++part) {
      const int from = movement_ == Movement::scatter ? root : part;
      const int to = movement_ == Movement::all_gather ? 0 : rank_;
      const auto is = out_.data_as<std::int32_t>().subspan(static_cast<std::size_t>(part * block), block);
      expect(std::memcmp(is.data(), content(from, to, salt).data(), is.size_bytes()) == 0,
             "what rank " + std::to_string(from) + " has is here");
    }
  }

 private:
  [[nodiscard]] schedule::Operation operation() const {
    switch (movement_) {
      case Movement::all_to_all: return schedule::Operation::all_to_all;
      case Movement::scatter: return schedule::Operation::scatter;
      default: return schedule::Operation::all_gather;
    }
  }
  [[nodiscard]] bool has_input() const { return movement_ != Movement::scatter || rank_ == root; }
  Tensor make(bool is_shared, std::int64_t parts) {
    return is_shared ? world_.shared_tensor({parts * block}, DType::i32)
                     : Tensor::empty({parts * block}, DType::i32);
  }
  void fill(int salt) {
    for (int to = 0; has_input() && to < parts_in_; ++to)
      std::ranges::copy(content(rank_, to, salt), in_.data_as<std::int32_t>().begin() + to * block);
  }
  Work start(bool is_async) {
    keep_pace(operation(), static_cast<std::size_t>(block) * sizeof(std::int32_t));
    if (movement_ == Movement::all_to_all) return world_.all_to_all_single(out_, in_, {.async_op = is_async});
    if (movement_ == Movement::all_gather)
      return world_.all_gather_into_tensor(out_, in_, {.async_op = is_async});
    std::vector<Tensor> blocks;
    for (int to = 0; has_input() && to < world_.size(); ++to)
      blocks.push_back(in_.narrow(0, to * block, block));
    return world_.scatter(out_, blocks, root, {.async_op = is_async});
  }
  static constexpr int root = 0;
  ProcessGroup& world_;
  Movement movement_;
  int rank_;
  std::int64_t parts_in_, parts_out_;
  Tensor in_, out_;
};

// So that it is known which way is faster.
void settle(Mover& mover) {
  for (int call = 0; call < settled; ++call) mover.call(call, false);
}
void settle(ProcessGroup& world, Movement movement) {
  Mover mover(world, movement, false, false, false);
  settle(mover);
}

// Each buffer of each rank lies in the arena or in ordinary memory, and some ranks work in place.
TEST(MovedLoans, GiveTheRightElementsWhereverBuffersLie) {
  const auto run = [](int rank, int) {
    clock_of_stages = stages_are_slow;
    ProcessGroup world = init_with_boards();
    for (const Movement movement : movements) settle(world, movement);
    const std::size_t tried = copied_bytes;
    for (int round = 0; round < (sanitizer::is_on ? 12 : 24); ++round) {
      Random random(static_cast<std::uint64_t>(round));
      const Movement movement = movements[random.next() % movements.size()];
      const std::uint64_t places = random.next() >> 8 * rank;
      const bool in_place = places / 4 % 4 == 0;
      Mover mover(world, movement, places % 2 == 0, places / 2 % 2 == 0, in_place);
      for (int call = 0; call < 3; ++call) mover.call(8 * round + call, round % 2 != 0);
    }
    expect(rank == 0 || copied_bytes > tried, "something is copied out of another process");
    destroy();
  };
  for (const int ranks : {2, 3}) EXPECT_EQ(run_ranks(ranks, run, over_shm), 0);
}

// All that is another one's, and once.
TEST(MovedLoans, AreCopiedOnceWhereStagesAreSlow) {
  for (const Movement movement : movements) {
    const auto run = [movement](int rank, int) {
      clock_of_stages = stages_are_slow;
      ProcessGroup world = init_with_boards();
      Mover mover(world, movement, false, false, false);
      settle(mover);
      const std::size_t before = copied_bytes;
      mover.call(settled, false);
      const bool takes = movement != Movement::scatter || rank != 0;
      expect_equal(copied_bytes - before, takes ? block * sizeof(std::int32_t) : 0, "copied bytes");
      destroy();
    };
    EXPECT_EQ(run_ranks(2, run, over_shm), 0) << static_cast<int>(movement);
  }
}

// The slowest rank's time is a call's.
TEST(MovedLoans, AreCopiedWhereStagesAreSlowForOneRank) {
  const auto run = [](int rank, int ranks) {
    clock_of_stages = rank == ranks - 1 ? stages_are_slow : 1;
    ProcessGroup world = init_with_boards();
    Mover mover(world, Movement::all_to_all, false, false, false);
    settle(mover);
    const std::size_t before = copied_bytes;
    mover.call(settled, false);
    const std::size_t wanted = static_cast<std::size_t>(ranks - 1) * block * sizeof(std::int32_t);
    expect_equal(copied_bytes - before, wanted, "copied bytes");
    destroy();
  };
  for (const int ranks : {2, 3}) EXPECT_EQ(run_ranks(ranks, run, over_shm), 0);
}

// A time that is to be told waits until a call tells times.
TEST(MovedLoans, AreCopiedWhereSmallCallsComeBetween) {
  const auto run = [](int, int) {
    clock_of_stages = stages_are_slow;
    ProcessGroup world = init_with_boards();
    Mover mover(world, Movement::all_to_all, false, false, false);
    for (int call = 0; call < settled; ++call) {
      mover.call(call, false);
      world.barrier();
    }
    const std::size_t before = copied_bytes;
    mover.call(settled, false);
    expect_equal(copied_bytes - before, block * sizeof(std::int32_t), "copied bytes");
    destroy();
  };
  EXPECT_EQ(run_ranks(2, run, over_shm), 0);
}

TEST(MovedLoans, AreTriedAndNotCopiedWhereStagesAreFast) {
  const auto run = [](int, int ranks) {
    clock_of_stages = stages_are_fast;
    ProcessGroup world = init_with_boards();
    for (const Movement movement : movements) {
      if (movement == Movement::all_gather && ranks > 2) continue;  // by messages
      Mover mover(world, movement, false, false, false);
      for (int call = 0; call < settled; ++call) mover.call(call, call % 2 != 0);
      const std::size_t tried = copied_bytes;
      for (int call = 0; call < 10; ++call) mover.call(call, call % 2 != 0);
      expect_equal(copied_bytes - tried, std::size_t{0}, "copied bytes");
    }
    destroy();
  };
  for (const int ranks : {2, 3}) EXPECT_EQ(run_ranks(ranks, run, over_shm), 0);
}

// Ranks hear of times before or after they begin calls, and may not want the same.
TEST(MovedLoans, OfSeveralCallsAtOnceHaveTheRightElements) {
  const auto run = [](int rank, int) {
    clock_of_stages = stages_are_slow;
    ProcessGroup world = init_with_boards();
    std::vector<Mover> movers;
    for (int i = 0; i < 3; ++i) movers.emplace_back(world, Movement::all_to_all, false, false, false);
    std::size_t tried = 0;
    for (int round = 0; round < (settled + 20) / 3; ++round) {
      if (3 * round > settled + 3) tried = tried == 0 ? copied_bytes.load() : tried;
      std::vector<Work> works;
      for (std::size_t i = 0; i < movers.size(); ++i) {
        const auto salt = 3 * round + static_cast<int>(i);
        if (rank == 1 && round % 3 == 1 && !works.empty()) works.back().wait();
        works.push_back(movers[i].begin(salt));
      }
      for (std::size_t i = 0; i < movers.size(); ++i) {
        works[i].wait();
        movers[i].check(3 * round + static_cast<int>(i));
      }
    }
    expect(tried != 0 && copied_bytes > tried, "copies go on");
    destroy();
  };
  for (const int ranks : {2, 3}) EXPECT_EQ(run_ranks(ranks, run, over_shm), 0);
}

// Together they are as much as what is asked for first, each alone is little.
TEST(MovedLoans, OfSmallBlocksGiveManyRanksTheRightElements) {
  for (const auto speed : {stages_are_fast, stages_are_slow}) {
    const auto run = [speed](int rank, int ranks) {
      constexpr std::int64_t small_block = 16'001;
      clock_of_stages = speed;
      ProcessGroup world = init_with_boards();
      Tensor all = Tensor::empty({small_block * ranks}, DType::i32);
      Tensor mine = Tensor::empty({small_block}, DType::i32);
      std::vector<Tensor> blocks;
      for (int to = 0; to < ranks; ++to) blocks.push_back(all.narrow(0, to * small_block, small_block));
      std::vector<std::int32_t> expected(small_block);
      for (int call = 0; call < settled + 2; ++call) {
        keep_pace(schedule::Operation::scatter, static_cast<std::size_t>(small_block) * sizeof(std::int32_t));
        const int root = call % 2 == 0 ? 0 : ranks - 1;
        const std::int32_t first = call * 1'000'003;
        std::iota(all.data_as<std::int32_t>().begin(), all.data_as<std::int32_t>().end(), first);
        std::iota(expected.begin(), expected.end(), first + static_cast<std::int32_t>(rank * small_block));
        world.scatter(mine, rank == root ? TensorList(blocks) : TensorList(), root);
        expect(std::ranges::equal(mine.data_as<std::int32_t>(), expected), "this rank's block is here");
      }
      destroy();
    };
    EXPECT_EQ(run_ranks(18, run, over_shm), 0);
  }
}

TEST(MovedLoans, AreNotCopiedWhereThatIsForbidden) {
  const auto run = [](int, int) {
    clock_of_stages = stages_are_slow;
    ProcessGroup world = init_with_boards();
    settle(world, Movement::all_to_all);
    expect_equal(copied_bytes.load(), std::size_t{0}, "copied bytes");
    destroy();
  };
  EXPECT_EQ(run_ranks(2, run, {.environment = {{"PARLEY_TRANSPORTS", "shm,^cma"}}}), 0);
}

// In the middle of a call, which was possible when it began.
TEST(MovedLoans, ThatFailEndTheCallAndSayWhose) {
  for (const int error : {EFAULT, EPERM}) {
    const auto run = [error](int, int) {
      clock_of_stages = stages_are_slow;
      ProcessGroup world = init_with_boards();
      Mover mover(world, Movement::all_to_all, false, false, false);
      settle(mover);
      expect_failing_copies_to_end(world, error, [&] { mover.call_unchecked(); });
      destroy();
    };
    EXPECT_EQ(run_ranks(2, run, over_shm), 0) << error;
  }
}

// It tries before each call, tells the others, and all go by stages.
TEST(MovedLoans, GoByStagesWhereOneMayNotReadAnyMore) {
  const auto run = [](int rank, int) {
    clock_of_stages = stages_are_slow;
    ProcessGroup world = init_with_boards();
    Mover mover(world, Movement::all_to_all, false, false, false);
    settle(mover);
    if (rank == 1) refuse_calls({refused_copies});
    const std::size_t before = copied_bytes;
    for (int call = 0; call < 6; ++call) mover.call(settled + call, false);
    expect_equal(copied_bytes - before, std::size_t{0}, "copied bytes");
    world.barrier();
    destroy();
  };
  for (const int ranks : {2, 3}) EXPECT_EQ(run_ranks(ranks, run, over_shm), 0);
}

}  // namespace
}  // namespace parley::testing
