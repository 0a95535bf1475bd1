// Random programs on boards: all collectives in sizes that go beside a mark, at once, and in many turns,
// blocking or not, in groups that overlap, with messages in between and ranks that are delayed. Every byte
// is checked.
//
//   multiprocess_boards --gtest_filter='*Programs*' --seed 17     one program again

#include <gtest/gtest.h>
#include <parley/parley.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/multiprocess/collectives/boards.h"
#include "tests/multiprocess/support/cores.h"
#include "tests/multiprocess/support/random.h"
#include "tests/multiprocess/support/ranks.h"
#include "tests/multiprocess/support/seed_option.h"

namespace parley::testing {
namespace {

using namespace std::chrono_literals;

enum class Kind {
  all_reduce,
  reduce,
  broadcast,
  scatter,
  gather,
  all_gather,
  reduce_scatter,
  all_to_all,
  scan,  // by messages
  barrier,
  message,  // from one rank to another
};
constexpr std::size_t kinds = 11;

// One step of a program, the same on all ranks.
struct Step {
  std::size_t group = 0;
  Kind kind = Kind::barrier;
  std::size_t bytes = 0;  // of the whole vector, or of all blocks
  std::size_t root = 0;   // a number, to be taken modulo the size of the group
  int type = 0;           // of the elements: u8, i32, f64
  bool is_async = false;
  std::uint64_t seed = 0;
};

std::size_t random_bytes(Random& random) {
  constexpr std::size_t sizes[] = {0,    8,    8,      24,     56,     57,     1000,
                                   4096, 4096, 13'001, 65'536, 65'536, 70'007, 300'001};
  return random.one_in(25) ? std::size_t{1} << 20 : sizes[random.below(std::size(sizes))];
}

Step random_step(Random& random, std::size_t groups) {
  Step step;
  step.group = random.below(groups);
  step.kind = static_cast<Kind>(random.below(kinds));
  step.bytes = random_bytes(random);
  step.root = random.below(1000);
  step.type = static_cast<int>(random.below(3));
  step.is_async = random.one_in(2);
  step.seed = random.next();
  return step;
}

// Whole numbers below 2^16: sums round in no type, and begin again in a u8 as they do here.
template <typename T>
T element(const Step& step, std::size_t rank, std::size_t index) {
  return static_cast<T>(Random(step.seed + rank * 0x1000'0001 + index).next() & 0xffff);
}

// What is under way: its memory, and what comes out if all is right.
struct Pending {
  virtual ~Pending() = default;
  virtual void check() = 0;
  Work work;
};

// One rank's part in a step. What is not written stays as it was: that is expected, too.
template <typename T>
class Call final : public Pending {
 public:
  Call(ProcessGroup& group, const Step& step)
      : group_(group),
        step_(step),
        ranks_(static_cast<std::size_t>(group.size())),
        rank_(static_cast<std::size_t>(group.rank())),
        root_(step.root % ranks_),
        count_(step.bytes / sizeof(T)),
        block_(count_ / ranks_) {
    work = begin();
  }

  void check() override {
    work.wait();
    if (out_ == expected_) return;
    const auto [at, other] = std::mismatch(out_.begin(), out_.end(), expected_.begin(), expected_.end());
    throw Unexpected("wrong elements of kind " + std::to_string(static_cast<int>(step_.kind)) + ", " +
                     std::to_string(count_) + " of type " + std::to_string(step_.type) + ", from element " +
                     std::to_string(at - out_.begin()) + " on, in a group of " + std::to_string(ranks_));
  }

 private:
  Work begin() {
    const int root = static_cast<int>(root_);
    const bool is_root = rank_ == root_;
    switch (step_.kind) {
      case Kind::all_reduce: return all_reduce();
      case Kind::reduce:
        take(0, count_);
        expect_sums(ranks_, 0, is_root ? count_ : 0);
        return group_.reduce(out_, in_, root, reducing());
      case Kind::scan:
        take(0, count_);
        expect_sums(rank_ + 1, 0, count_);
        std::swap(in_, out_);  // in place
        return group_.scan(out_, reducing());
      case Kind::broadcast:
        if (is_root) take(0, count_);
        expect_of(root_, 0, count_);
        if (is_root) out_ = in_;
        return group_.broadcast(out_, root, {.async_op = step_.is_async});
      case Kind::scatter:
        if (is_root) take(0, block_ * ranks_);
        expect_of(root_, rank_ * block_, block_);
        return group_.scatter(out_, blocks_of(in_, is_root), root, {.async_op = step_.is_async});
      case Kind::gather:
        take(0, block_);
        if (is_root) expect_blocks(0);
        return group_.gather(blocks_of(out_, is_root), in_, root, {.async_op = step_.is_async});
      case Kind::all_gather:
        take(0, block_);
        expect_blocks(0);
        return group_.all_gather_into_tensor(out_, in_, {.async_op = step_.is_async});
      case Kind::reduce_scatter:
        take(0, block_ * ranks_);
        expect_sums(ranks_, rank_ * block_, block_);
        return group_.reduce_scatter_tensor(out_, in_, reducing());
      case Kind::all_to_all:
        take(0, block_ * ranks_);
        expect_blocks(rank_ * block_);
        return group_.all_to_all_single(out_, in_, {.async_op = step_.is_async});
      case Kind::barrier: return group_.barrier({.async_op = step_.is_async});
      case Kind::message: return message();
    }
    return {};
  }

  Work all_reduce() {
    take(0, count_);
    expect_sums(ranks_, 0, count_);
    if (step_.seed % 2 == 0) return group_.all_reduce(out_, in_, reducing());
    std::swap(in_, out_);
    return group_.all_reduce(out_, reducing());
  }

  // From the root to another one; the rest does nothing.
  Work message() {
    const std::size_t to = (root_ + 1 + step_.seed % (ranks_ - 1)) % ranks_;
    if (rank_ == root_) {
      take(0, count_);
      return group_.isend(in_, static_cast<int>(to));
    }
    if (rank_ != to) return {};
    expect_of(root_, 0, count_);
    return group_.irecv(out_, static_cast<int>(root_));
  }

  [[nodiscard]] ReduceOptions reducing() const {
    ReduceOptions options;
    options.async_op = step_.is_async;
    if (step_.seed % 8 == 3) options.determinism = Determinism::rank_order;
    return options;
  }

  void take(std::size_t begin, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) in_.push_back(element<T>(step_, rank_, begin + i));
  }
  void expect_of(std::size_t rank, std::size_t begin, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) expected_.push_back(element<T>(step_, rank, begin + i));
    out_.assign(expected_.size(), static_cast<T>(0x5a));
  }
  void expect_blocks(std::size_t begin) {
    for (std::size_t rank = 0; rank < ranks_; ++rank) expect_of(rank, begin, block_);
  }
  void expect_sums(std::size_t ranks, std::size_t begin, std::size_t count) {
    expected_.assign(count, T{});
    for (std::size_t rank = 0; rank < ranks; ++rank)
      for (std::size_t i = 0; i < count; ++i)
        expected_[i] = static_cast<T>(expected_[i] + element<T>(step_, rank, begin + i));
    out_.assign(count, static_cast<T>(0x5a));
  }
  std::vector<Tensor> blocks_of(std::vector<T>& memory, bool is_there) {
    std::vector<Tensor> blocks;
    for (std::size_t i = 0; is_there && i < ranks_; ++i)
      blocks.emplace_back(std::span(memory).subspan(i * block_, block_));
    return blocks;
  }

  ProcessGroup group_;
  const Step step_;
  const std::size_t ranks_, rank_, root_, count_, block_;
  std::vector<T> in_, out_, expected_;
};

std::unique_ptr<Pending> begin(ProcessGroup& group, const Step& step) {
  switch (step.type) {
    case 0: return std::make_unique<Call<std::uint8_t>>(group, step);
    case 1: return std::make_unique<Call<std::int32_t>>(group, step);
    default: return std::make_unique<Call<double>>(group, step);
  }
}

// All ranks in two orders, and parts that overlap.
std::vector<ProcessGroup> make_groups(ProcessGroup& world) {
  const int ranks = world.size();
  std::vector<int> backwards, even, last;
  for (int rank = 0; rank < ranks; ++rank) {
    backwards.insert(backwards.begin(), rank);
    if (rank % 2 == 0 || ranks < 4) even.push_back(rank);
    if (rank >= ranks - 3) last.push_back(rank);
  }
  return {world, world.new_group(backwards), world.new_group(even), world.new_group(last),
          world.new_group({0, ranks - 1})};
}

// Waits for some of what is under way, in any order, or for all of it.
void check_some(std::vector<std::unique_ptr<Pending>>& pending, Random& random) {
  const bool all = random.one_in(10);
  while (!pending.empty() && (all || pending.size() > 60 || random.one_in(2))) {
    const auto next = pending.begin() + static_cast<std::ptrdiff_t>(random.below(pending.size()));
    (*next)->check();
    pending.erase(next);
  }
}

void run_program(ProcessGroup& world, std::uint64_t seed, int steps) {
  std::vector<ProcessGroup> groups = make_groups(world);
  Random program(seed), own(seed + 1 + static_cast<std::uint64_t>(world.rank()));
  std::vector<std::unique_ptr<Pending>> pending;
  for (int i = 0; i < steps; ++i) {
    const Step step = random_step(program, groups.size());
    if (!groups[step.group].is_member()) continue;
    if (own.one_in(20)) std::this_thread::sleep_for(std::chrono::microseconds(own.below(500)));
    if (own.one_in(300)) std::this_thread::sleep_for(5ms);
    pending.push_back(begin(groups[step.group], step));
    if (!step.is_async) {
      pending.back()->check();
      pending.pop_back();
    }
    check_some(pending, own);
  }
  for (const auto& call : pending) call->check();
}

struct Placement {
  int ranks = 0;
  std::size_t cores = all;  // that they stay on: sizes and numbers of stages differ where they share some
  bool has_small_caches = false;  // what is large lands past them
  static constexpr std::size_t all = SIZE_MAX;
};
std::string name_of(const ::testing::TestParamInfo<Placement>& info) {
  const auto& [ranks, cores, has_small_caches] = info.param;
  return std::to_string(ranks) + (cores == Placement::all ? "" : "On" + std::to_string(cores)) +
         (has_small_caches ? "WithSmallCaches" : "");
}
class Programs : public ::testing::TestWithParam<Placement> {};
INSTANTIATE_TEST_SUITE_P(OfSoManyRanks, Programs,
                         ::testing::Values(Placement{2}, Placement{3}, Placement{4}, Placement{6},
                                           Placement{4, 2}, Placement{10, 2},
                                           Placement{2, Placement::all, true}, Placement{5, 2, true}),
                         name_of);

TEST_P(Programs, GiveTheRightBytes) {
  const std::uint64_t seed = only_seed().value_or(
      static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()) % 1'000'000);
  const int steps = long_tests() ? 20'000 : 400 / slowness();
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  std::fflush(stdout);
  const Placement& placement = GetParam();
  const auto run = [&](int, int) {
    keep_to_cores(placement.cores);
    ProcessGroup world = init();
    run_program(world, seed, steps);
    destroy();
  };
  RanksOptions options = long_over_shm;
  if (placement.has_small_caches) options.environment.emplace("PARLEY_CACHE_BYTES", "100000");
  EXPECT_EQ(run_ranks(placement.ranks, run, options), 0) << "again with --seed " << seed;
}

}  // namespace
}  // namespace parley::testing
