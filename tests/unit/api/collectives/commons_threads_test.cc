// Whole schedules on boards, step by step, with a thread for each rank and nothing else between them: what
// one writes before its mark, others read after it, and nobody writes what somebody still reads. The thread
// sanitizer sees each race, also where the values happen to be right.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <iterator>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "api/schedule/catalogue.h"
#include "tests/multiprocess/support/random.h"
#include "tests/unit/api/collectives/boards_in_memory.h"

namespace parley::collective {
namespace {

using namespace std::chrono_literals;
using schedule::Algorithm;
using schedule::Operation;
using schedule::Schedule;
using schedule::Shape;
using schedule::Slice;
using schedule::Space;
using schedule::Step;
using schedule::StepKind;
using testing::BoardsInMemory;
using testing::Random;
using Element = std::uint32_t;
using Elements = std::vector<Element>;

constexpr std::size_t stage_count = 512;  // elements: small, so that there are many turns
constexpr std::size_t most_bytes_in_one_place = 128;

// One collective, the same on all ranks.
struct PlannedCall {
  std::int64_t number = 0;
  Operation operation = Operation::barrier;
  Algorithm algorithm = Algorithm::flat;
  std::uint32_t root = 0;
  std::uint64_t count = 0;
  std::uint64_t seed = 0;

  [[nodiscard]] std::uint64_t word() const { return call_word(number, seed & note_mask); }
};

PlannedCall random_call(std::int64_t number, std::uint32_t ranks, Random& random) {
  static constexpr Operation operations[] = {
      Operation::broadcast,      Operation::reduce,     Operation::all_reduce, Operation::scatter,
      Operation::gather,         Operation::all_gather, Operation::all_reduce, Operation::reduce,
      Operation::reduce_scatter, Operation::all_to_all, Operation::barrier};
  PlannedCall call;
  call.number = number;
  call.operation = operations[random.below(std::size(operations))];
  const bool may_be_sliced = call.operation == Operation::all_reduce || call.operation == Operation::reduce;
  if (may_be_sliced && random.one_in(2)) call.algorithm = Algorithm::slices;
  call.root = static_cast<std::uint32_t>(random.below(ranks));
  // Beside the mark, in a stage, in several turns; now and then nothing.
  constexpr std::size_t bounds[] = {15, stage_count / 4, 4 * stage_count};
  if (call.operation != Operation::barrier) call.count = random.below(bounds[random.below(3)]);
  call.seed = random.next();
  return call;
}

Element element(const PlannedCall& call, std::uint32_t rank, std::uint64_t index) {
  return static_cast<Element>(Random(call.seed + rank * 1'000'003 + index).next());
}

Elements elements(const PlannedCall& call, std::uint32_t rank, std::uint64_t begin, std::uint64_t count) {
  Elements all;
  for (std::uint64_t i = begin; i < begin + count; ++i) all.push_back(element(call, rank, i));
  return all;
}

// Of the inputs of all ranks, added up.
Elements sums(const PlannedCall& call, std::uint32_t ranks, std::uint64_t begin, std::uint64_t count) {
  Elements all(count);
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    for (std::uint64_t i = 0; i < count; ++i) all[i] += element(call, rank, begin + i);
  return all;
}

Elements expected_output(const PlannedCall& call, std::uint32_t rank, std::uint32_t ranks) {
  const std::uint64_t n = call.count;
  const bool is_root = rank == call.root;
  const auto blocks_of_all = [&](std::uint64_t begin) {
    Elements all;
    for (std::uint32_t other = 0; other < ranks; ++other) {
      const Elements block = elements(call, other, begin, n);
      all.insert(all.end(), block.begin(), block.end());
    }
    return all;
  };
  switch (call.operation) {
    case Operation::broadcast: return elements(call, call.root, 0, n);
    case Operation::scatter: return elements(call, call.root, rank * n, n);
    case Operation::all_reduce: return sums(call, ranks, 0, n);
    case Operation::reduce: return is_root ? sums(call, ranks, 0, n) : Elements();
    case Operation::reduce_scatter: return sums(call, ranks, rank * n, n);
    case Operation::gather: return is_root ? blocks_of_all(0) : Elements();
    case Operation::all_gather: return blocks_of_all(0);
    case Operation::all_to_all: return blocks_of_all(rank * n);
    default: return {};
  }
}

// One rank: runs schedules in the order of their lists, in which every step comes after those it waits for.
class RankThread {
 public:
  RankThread(std::uint32_t rank, std::uint32_t ranks, Commons& commons)
      : rank_(rank), ranks_(ranks), commons_(commons), random_(rank) {}

  void run(const PlannedCall& call) {
    Shape shape;
    shape.rank = rank_;
    shape.size = ranks_;
    shape.root = call.root;
    shape.count = call.count;
    shape.line_count = BoardSlot::line_bytes / sizeof(Element);
    const PlanCache::SharedRoom room = commons_.room();
    set_ = room.ahead.bytes != 0 && call.seed % 2 == 0 ? StageSet::ahead : StageSet::usual;
    const PlanCache::SharedRoom::Stages stages = room.of(set_);
    shape.stage_count = stages.bytes / sizeof(Element);
    shape.line_turns = room.line_turns;
    shape.stage_turns = stages.turns;
    schedule_ = schedule::make(call.operation, call.algorithm, shape);
    const std::size_t used = schedule_.stage_count * sizeof(Element);
    stage_bytes_ = used > most_bytes_in_one_place ? std::bit_ceil(used) : 0;
    input_ = elements(call, rank_, 0, schedule::input_count(call.operation, shape));
    output_.assign(schedule::output_count(call.operation, shape), Element{0xdeadbeef});
    base_ = commons_.take_turns(schedule_.turns).first_mark;
    for (const Step& step : schedule_.steps) {
      run_step(step, call);
      if (random_.one_in(50)) std::this_thread::sleep_for(1us);
    }
    if (output_ != expected_output(call, rank_, ranks_))
      throw std::runtime_error("wrong elements in call " + std::to_string(call.number));
  }

 private:
  [[nodiscard]] std::uint64_t mark(std::int32_t of) const {
    return base_ + static_cast<std::uint64_t>(std::int64_t{of});
  }

  Element* at(const Slice& slice) {
    const std::uint64_t turn = Commons::turn_of(base_) + slice.turn;
    switch (slice.space) {
      case Space::input: return input_.data() + slice.begin;
      case Space::output: return output_.data() + slice.begin;
      case Space::line: return shared(commons_.line(slice.owner, turn)) + slice.begin;
      case Space::stage: return shared(commons_.stage(slice.owner, turn, set_, stage_bytes_)) + slice.begin;
      case Space::scratch: break;
    }
    throw std::logic_error("a schedule for boards uses scratch memory");
  }
  static Element* shared(std::byte* memory) { return reinterpret_cast<Element*>(memory); }

  void run_step(const Step& step, const PlannedCall& call) {
    switch (step.kind) {
      case StepKind::copy: std::copy_n(at(step.from), step.to.count, at(step.to)); return;
      case StepKind::reduce: return reduce(step);
      case StepKind::publish: commons_.publish(mark(step.mark), call.word()); return;
      case StepKind::await: return await(step, call);
      case StepKind::send:
      case StepKind::receive: throw std::logic_error("a schedule for boards sends messages");
    }
  }

  void reduce(const Step& step) {
    Element* const to = at(step.to);
    for (std::uint64_t i = 0; i < step.to.count; ++i) {
      Element sum = 0;
      for (std::uint32_t k = 0; k < step.operand_count; ++k)
        sum += at(schedule_.operands[step.first_operand + k])[i];
      to[i] = sum;
    }
  }

  void await(const Step& step, const PlannedCall& call) {
    if (step.peer == schedule::everyone && commons_.all_have_reached(mark(step.mark))) return;
    for (std::uint32_t rank = 0; rank < ranks_; ++rank)
      if (rank != rank_ && (step.peer == schedule::everyone || step.peer == rank))
        await(rank, mark(step.mark), step.mark > 0 ? call.word() : commons_.own_call(mark(step.mark)));
    if (step.peer == schedule::everyone) commons_.note_all(mark(step.mark));
  }

  void await(std::uint32_t rank, std::uint64_t wanted, std::uint64_t word) {
    const auto end = std::chrono::steady_clock::now() + 20s;
    for (int looks = 0; !commons_.has_reached(rank, wanted); ++looks) {
      if (looks < 32) continue;
      // Who yields to others that are busy has the core again after milliseconds, who has slept at once.
      std::this_thread::sleep_for(1us);
      if (std::chrono::steady_clock::now() > end)
        throw std::runtime_error("waited in vain for the mark of rank " + std::to_string(rank));
    }
    const auto call = commons_.call_of(rank, wanted);
    if (call && *call != word) throw std::runtime_error("the mark of another call");
  }

  const std::uint32_t rank_;
  const std::uint32_t ranks_;
  Commons& commons_;
  Random random_;
  Schedule schedule_;
  StageSet set_ = StageSet::usual;
  std::size_t stage_bytes_ = 0;
  Elements input_;
  Elements output_;
  std::uint64_t base_ = 0;
};

// Of how many ranks, how many stages, and whether turns use a quarter of each in turn; two stages stand
// beside more that are smaller, and each call uses the ones or the others.
class ThreadsOnBoards : public ::testing::TestWithParam<std::tuple<std::uint32_t, std::uint64_t, bool>> {};
INSTANTIATE_TEST_SUITE_P(RanksAndStages, ThreadsOnBoards,
                         ::testing::Combine(::testing::Values(2, 3, 4), ::testing::Values(2, 8),
                                            ::testing::Bool()));

TEST_P(ThreadsOnBoards, ReadWhatWasWrittenForThem) {
  const std::uint32_t ranks = std::get<0>(GetParam());
  const std::uint64_t stages = std::get<1>(GetParam());
  constexpr std::int64_t calls = 1500;
  constexpr std::size_t stage_bytes = stage_count * sizeof(Element);
  Commons::Sets sets{{stage_bytes, stages, std::get<2>(GetParam()) ? stage_bytes / 4 : stage_bytes}};
  if (stages == 2) sets.ahead = {stage_bytes / 4, 8, stage_bytes / 16};
  const BoardsInMemory boards(ranks, sets);
  std::vector<std::string> failures(ranks);
  const auto run_rank = [&](std::uint32_t rank) {
    try {
      Random random(ranks * 100 + stages);  // the same on all ranks
      RankThread thread(rank, ranks, boards.of(rank));
      for (std::int64_t number = 0; number < calls; ++number) thread.run(random_call(number, ranks, random));
    } catch (const std::exception& error) {
      failures[rank] = error.what();
    }
  };
  std::vector<std::thread> threads;
  for (std::uint32_t rank = 1; rank < ranks; ++rank) threads.emplace_back(run_rank, rank);
  run_rank(0);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures, std::vector<std::string>(ranks));
}

}  // namespace
}  // namespace parley::collective
