// Buffers in shared memory, which ranks lend each other instead of copying: right results whoever lends what;
// a lender returns when all have read, and learns of it if that does not come.
#include <gtest/gtest.h>
#include <parley/parley.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "api/collective/channel.h"
#include "api/collective/commons.h"
#include "api/group_state.h"
#include "tests/multiprocess/collectives/boards.h"
#include "tests/multiprocess/support/await.h"
#include "tests/multiprocess/support/random.h"
#include "tests/multiprocess/support/ranks.h"
#include "tests/multiprocess/support/shared_page.h"
#include "tests/sanitizer.h"
#include "tests/unit/api/collectives/every_collective.h"

namespace parley::testing {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t lent_count = 20'000;       // so few are shown at once where they are not lent
constexpr std::int64_t many_count = 200'000;      // so many need a request
constexpr std::int64_t copied_count = 1'100'001;  // of so many others make copies where all lend them

// The ranks have met, and all have mapped what rank 0 lends.
Tensor lent_by_all(ProcessGroup& world, std::int64_t count = lent_count) {
  const Tensor data = world.shared_tensor({count}, DType::i32);
  std::memset(data.mutable_data(), world.rank(), data.bytes());
  for (int i = 0; i < 20; ++i) world.broadcast(data, 0);
  return data;
}

class Loans : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(OfSoManyRanks, Loans,
                         ::testing::ValuesIn(sanitizer::is_on ? std::vector{2, 3} : std::vector{2, 3, 4, 7}));

TEST_P(Loans, GiveTheRightElementsWhoeverLends) {
  const auto run = [](int rank, int ranks) {
    ProcessGroup world = init();
    warm_up(world);
    const std::vector<std::size_t> counts =
        sanitizer::is_on ? std::vector<std::size_t>{20'001} : std::vector<std::size_t>{20'000, 70'001};
    for (const std::size_t count : counts)
      for (const int divisor : {1, 2, ranks})  // of ranks that lend
        for (const bool in_place : {false, true})
          for (const int root : {0, ranks - 1})
            expect_every_collective(world, {.count = count,
                                            .root = root,
                                            .in_place = in_place,
                                            .async_op = root != 0,
                                            .is_shared = rank % divisor == 0});
    expect_no_failure();
    destroy();
  };
  EXPECT_EQ(run_ranks(GetParam(), run, over_shm), 0);
}

// What was found of a lender is found again while he says the same; what each lends changes between calls.
TEST_P(Loans, AreThoseOfTheirCall) {
  const auto run = [](int rank, int ranks) {
    ProcessGroup world = init();
    // The last one asks who lends before it begins.
    constexpr std::array<std::int64_t, 4> counts = {lent_count, lent_count - 1, lent_count, 2 * lent_count};
    const auto shared = [&] { return world.shared_tensor({counts.back()}, DType::i32); };
    const Tensor ordinary = Tensor::empty({counts.back()}, DType::i32);
    const std::vector<Tensor> inputs = {shared(), shared(), ordinary};
    const std::vector<Tensor> results = {shared(), Tensor::empty({counts.back()}, DType::i32)};
    Random own(static_cast<std::uint64_t>(rank)), common(99);
    for (int call = 0; call < 400; ++call) {
      const std::int64_t count = counts[common.below(counts.size())];
      const bool nobody_lends = common.one_in(5), is_broadcast = common.one_in(3);
      const int root = static_cast<int>(common.below(static_cast<std::size_t>(ranks)));
      const Tensor input = (nobody_lends ? ordinary : inputs[own.below(8) % 3]).narrow(0, 0, count);
      const Tensor result = results[own.below(2)].narrow(0, 0, count);
      std::fill_n(input.data_as<std::int32_t>().begin(), count, (rank + 1) * call);
      if (is_broadcast)
        world.broadcast(input, root, {.async_op = call % 7 == 0}).wait();
      else
        world.all_reduce(result, input, {.async_op = call % 7 == 0}).wait();
      const int expected = (is_broadcast ? root + 1 : ranks * (ranks + 1) / 2) * call;
      for (const std::int32_t element : (is_broadcast ? input : result).data_as<std::int32_t>())
        if (element != expected) expect_equal(element, expected, "a result");
    }
    destroy();
  };
  EXPECT_EQ(run_ranks(GetParam(), run, over_shm), 0);
}

// Who lends all is asked first, in each call anew: of several under way each goes its own way.
TEST(Loans, OfSeveralCallsUnderWayAreAskedForInEach) {
  const auto run = [](int rank, int ranks) {
    constexpr std::int64_t count = 70'001;
    constexpr int calls = 12;
    ProcessGroup world = init();
    std::vector<Tensor> shared, own, results;
    for (int i = 0; i < calls; ++i) {
      shared.push_back(world.shared_tensor({count}, DType::i32));
      own.push_back(Tensor::empty({count}, DType::i32));
      results.push_back(world.shared_tensor({count}, DType::i32));
    }
    for (std::uint64_t round = 0; round < 30; ++round) {
      Random random(round);
      std::vector<Work> works;
      std::vector<Tensor> outputs;
      for (int i = 0; i < calls; ++i) {
        const std::uint64_t draw = random.next();
        const bool lends = draw % 3 != 0 || (draw / 3 % 2 == 0 && rank == 0);
        const Tensor& input = (lends ? shared : own)[static_cast<std::size_t>(i)];
        for (std::int32_t& element : input.data_as<std::int32_t>()) element = rank + i;
        const bool in_place = (draw / 6 + draw / 12 % 2 * static_cast<std::uint64_t>(rank)) % 2 == 0;
        outputs.push_back(in_place ? input : results[static_cast<std::size_t>(i)]);
        works.push_back(world.all_reduce(outputs.back(), input, {.async_op = true}));
      }
      wait_all(works);
      for (int i = 0; i < calls; ++i)
        for (const std::int32_t element : outputs[static_cast<std::size_t>(i)].data_as<std::int32_t>())
          if (element != ranks * (ranks - 1) / 2 + ranks * i) expect_equal(element, -1, "a sum");
    }
    destroy();
  };
  for (const int ranks : {2, 3}) EXPECT_EQ(run_ranks(ranks, run, over_shm), 0);
}

TEST(Loans, OfAllWhereOneDiesTellWho) {
  for (const bool is_shared : {true, false}) {
    const auto run = [is_shared](int rank, int) {
      std::signal(SIGTERM, SIG_IGN);
      ProcessGroup world = init();
      const Tensor data = is_shared ? world.shared_tensor({copied_count}, DType::i32)
                                    : Tensor::empty({copied_count}, DType::i32);
      for (int i = 0; i < 20; ++i) world.all_reduce(data);
      barrier_before_death(world, 1);
      if (rank == 1) std::thread([] { std::raise(SIGKILL); }).detach();
      const auto died = expect_throws<PeerDiedError>([&] {
        for (;;) world.all_reduce(data);
      });
      expect_equal(died.details().culprit, 1, "culprit");
    };
    EXPECT_EQ(run_ranks(2, run, over_shm), killed_exit_code) << is_shared;
  }
}

TEST(Loans, AreReadWhereTheyLieSoThatALenderWaitsForItsReaders) {
  const auto run = [](int rank, int) {
    ProcessGroup world = init();
    const Tensor data = lent_by_all(world);
    if (rank == 0) {
      Work work = world.broadcast(data, 0, {.async_op = true});
      for (int i = 0; i < 1'000; ++i) expect(!work.test(), "not before it was read");
      for (int reader = 1; reader < world.size(); ++reader) world.send(0, reader);
      work.wait();
    } else {
      (void)world.recv<int>(0);
      world.broadcast(data, 0);
    }
    destroy();
  };
  EXPECT_EQ(run_ranks(3, run, over_shm), 0);
}

// What was read may be written by then. An abort says why, as a rule; here none comes.
TEST(Loans, ThatAreTakenBackWithoutAWordTellWhoDidSo) {
  struct Page {
    std::atomic<bool> are_taken_back{false}, has_failed{false};
  };
  for (const std::int64_t count : {lent_count, many_count}) {
    const SharedPage<Page> page;
    const auto run = [&](int rank, int) {
      ProcessGroup world = init();
      const Tensor data = lent_by_all(world, count);
      await_return_of_all(world);
      if (rank == 0) {
        const Work work = world.broadcast(data, 0, {.async_op = true});
        const detail::GroupState& group = *detail::GroupAccess::state(world);
        group.world->engine->locked([&](transport::Messenger&) {  // so that nobody misses the boards
          collective::Commons& commons = *group.channel->take_commons().release();
          for (std::uint32_t card = 0; card < collective::Commons::slots; ++card) commons.withdraw_card(card);
          page->are_taken_back = true;
          while (!page->has_failed) std::this_thread::yield();
          _exit(0);
        });
      } else {
        await([&] { return page->are_taken_back.load(); }, "rank 0 lends, and takes it back");
        const auto late = expect_throws<TimeoutError>([&] { world.broadcast(data, 0, {.timeout = 300ms}); });
        expect_contains(late.what(), "it waited for rank 0");
        page->has_failed = true;
        _exit(0);
      }
    };
    EXPECT_EQ(run_ranks(2, run, over_shm), 0) << count;
  }
}

// Who has no memory to lend does not wait.
TEST(Loans, AreNotTakenFromOrdinaryMemory) {
  const auto run = [](int rank, int) {
    ProcessGroup world = init();
    (void)lent_by_all(world);
    const Tensor data = Tensor::zeros(lent_count, DType::i32);
    if (rank != 0) (void)world.recv<int>(0);
    world.broadcast(data, 0);
    if (rank == 0)
      for (int reader = 1; reader < world.size(); ++reader) world.send(0, reader);
    destroy();
  };
  EXPECT_EQ(run_ranks(3, run, over_shm), 0);
}

TEST(Loans, OfWhichAReaderDiesTellWho) {
  const auto run = [](int rank, int) {
    std::signal(SIGTERM, SIG_IGN);
    ProcessGroup world = init();
    const Tensor data = lent_by_all(world);
    barrier_before_death(world, 2);
    if (rank == 2) std::raise(SIGKILL);
    const auto died = expect_throws<PeerDiedError>([&] {
      for (;;) world.broadcast(data, 0);
    });
    expect_equal(died.details().culprit, 2, "culprit");
  };
  EXPECT_EQ(run_ranks(3, run, over_shm), killed_exit_code);
}

// Rank 0 has written over what it has lent: rank 1, who comes later, may not take that for the result.
void expect_no_loan_of_one_who_has_given_up(
    ProcessGroup& world, const Tensor& data,
    const std::function<void(std::optional<std::chrono::nanoseconds> timeout)>& call) {
  if (world.rank() == 0) {
    const auto error = expect_throws<TimeoutError>([&] { call(200ms); });
    expect_contains(error.what(), "it waited for rank 1");
    std::memset(data.mutable_data(), 99, data.bytes());
    world.send(0, 1);
    (void)world.recv<int>(1);
  } else {
    std::this_thread::sleep_for(400ms);
    const auto error = expect_throws<Error>([&] { call(std::nullopt); });
    expect_contains(error.what(), "rank 0");
    (void)world.recv<int>(0);
    world.send(0, 0);
  }
  destroy();
}

TEST(Loans, OfALenderThatHasGivenUpAreNotRead) {
  for (const std::int64_t count : {lent_count, many_count}) {
    const auto run = [count](int, int) {
      ProcessGroup world = init();
      const Tensor data = lent_by_all(world, count);
      expect_no_loan_of_one_who_has_given_up(
          world, data, [&](auto timeout) { world.broadcast(data, 0, {.timeout = timeout}); });
    };
    EXPECT_EQ(run_ranks(2, run, over_shm), 0) << count;
  }
}

// Between the two parts of a call: it has told that it lends all, and has gone when the other one hears of
// it.
TEST(Loans, OfALenderThatHasGivenUpAreNotFolded) {
  for (const bool is_shared : {true, false}) {
    const auto run = [is_shared](int, int) {
      ProcessGroup world = init();
      const Tensor data = is_shared ? world.shared_tensor({copied_count}, DType::i32)
                                    : Tensor::empty({copied_count}, DType::i32);
      std::memset(data.mutable_data(), 0, data.bytes());
      for (int i = 0; i < 20; ++i) world.all_reduce(data);
      expect_no_loan_of_one_who_has_given_up(
          world, data, [&](auto timeout) { world.all_reduce(data, {.timeout = timeout}); });
    };
    EXPECT_EQ(run_ranks(2, run, over_shm), 0) << is_shared;
  }
}

// Who cannot lend does not wait to hear who else can. What the other one has called instead of a large call
// waits for nobody, and it comes no further.
TEST(Loans, WhereOneDoesNotAskForThemShowWhatAnotherHasCalled) {
  const auto run = [](int rank, int) {
    ProcessGroup world = init();
    warm_up(world);
    std::vector<float> small(4, 1.0F), large(40'000, 1.0F);
    if (rank == 1) {
      world.broadcast(small, 1);
      (void)world.recv<int>(0);
    } else {
      const auto begun = std::chrono::steady_clock::now();
      const auto error = expect_throws<MismatchError>([&] { world.all_reduce(large); });
      expect_contains(error.what(), "broadcast");
      expect(std::chrono::steady_clock::now() - begun < 8s, "within seconds");
      world.send(0, 1);
    }
  };
  EXPECT_EQ(run_ranks(2, run, over_shm), 0);
}

}  // namespace
}  // namespace parley::testing
