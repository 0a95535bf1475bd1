// A rank is killed or stopped while the ranks of a group meet, which they do before its fifth collective (see
// api/collective/meeting.h): before it has come, while all show their boards, while they tell and agree.
// Which of these it is depends on how often the victim has looked at the network and how long it has paused,
// so both are drawn at random, around what a meeting takes.
//
//   multiprocess_boards --gtest_filter='*Killed*' --seed 17     one program again

#include <gtest/gtest.h>
#include <parley/parley.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/multiprocess/support/await.h"
#include "tests/multiprocess/support/random.h"
#include "tests/multiprocess/support/ranks.h"
#include "tests/multiprocess/support/seed_option.h"
#include "tests/multiprocess/support/shared_page.h"

namespace parley::testing {
namespace {

using namespace std::chrono_literals;

constexpr auto hang_bound = 5s;  // see tests/README.md
constexpr int most_ranks = 4;
const RanksOptions meetings_over_shm{.timeout = std::chrono::seconds(long_tests() ? 900 : 40),
                                     .environment = over_shm.environment};

// When the victim is hit, in its fifth call of a group.
struct Moment {
  bool has_called = false;  // else it does not come
  bool comes_first = false;
  bool is_seen_already = false;                        // the memory of the boards, of a group before
  std::size_t looks = 0;                               // at the network, since it has called
  std::array<std::chrono::microseconds, 32> pauses{};  // before each
  std::chrono::microseconds last_pause{0};             // without a look
};

Moment random_moment(Random& random) {
  Moment moment;
  moment.has_called = !random.one_in(5);
  moment.comes_first = random.one_in(4);
  moment.is_seen_already = !random.one_in(3);
  moment.looks = random.below(random.one_in(2) ? 4 : moment.pauses.size());
  for (auto& pause : moment.pauses)
    pause = std::chrono::microseconds(random.one_in(2) ? random.below(300) : 0);
  if (random.one_in(2))
    moment.last_pause = std::chrono::microseconds(random.below(random.one_in(2) ? 300 : 1500));
  return moment;
}

// What the ranks tell each other without Parley.
struct Page {
  std::atomic<int> arrived{0};  // ranks other than the victim that are about to call
  std::atomic<pid_t> victim{0};
  std::atomic<int> stops{0};
  std::atomic<std::int64_t> killed_ns{0};
  std::array<std::atomic<std::int64_t>, most_ranks> told_ns{};
  std::atomic<int> content{0};  // ranks that found all as expected
};

void pause(std::chrono::microseconds time) {
  if (time > 0us) std::this_thread::sleep_for(time);
}

// The victim's fifth call, as far as it comes. The value stays with the caller.
Work call_until(ProcessGroup& group, const Moment& moment, std::vector<int>& value, const Page& page) {
  if (!moment.comes_first) await([&] { return page.arrived == group.size() - 1; }, "the others call");
  if (!moment.has_called) return {};
  Work work = group.all_reduce(value, {.async_op = true});
  for (std::size_t look = 0; look < moment.looks; ++look) {
    pause(moment.pauses[look]);
    group.progress();
  }
  pause(moment.last_pause);
  return work;
}

void expect_sums(ProcessGroup& group, int calls) {
  for (int call = 0; call < calls; ++call) {
    std::vector<int> value(call % 2 == 0 ? 3 : 9000, group.rank() + call);
    group.all_reduce(value);
    const int size = group.size();
    expect(value == std::vector<int>(value.size(), size * (size - 1) / 2 + size * call), "the sum");
  }
}

void expect_death_of(int victim, ProcessGroup& group) {
  const auto died = expect_throws<PeerDiedError>([&] {
    for (;;) {
      std::vector<int> value(1);
      group.all_reduce(value);
    }
  });
  expect_equal(died.details().culprit, victim, std::string("culprit of: ") + died.what());
}

class Meetings : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(OfSoManyRanks, Meetings, ::testing::Values(2, 3, 4));

// Survivors name the victim, in the call in which they meet or in the next, and still meet without it.
void run_with_a_kill(int rank, int ranks, int victim, const Moment& moment, Random random, Page& page) {
  std::signal(SIGTERM, SIG_IGN);  // spawn() asks the others to end as soon as one has died
  ProcessGroup world = init();
  std::vector<int> living;
  for (int other = 0; other < ranks; ++other)
    if (other != victim) living.push_back(other);
  ProcessGroup survivors = world.new_group(living);
  if (moment.is_seen_already) {
    ProcessGroup group = world.dup();
    expect_sums(group, 6);
  }
  ProcessGroup group = world.dup();
  for (int call = 0; call < 4; ++call) group.barrier();
  barrier_before_death(world, victim);
  if (rank == victim) {
    std::vector<int> value(1);
    const Work work = call_until(group, moment, value, page);
    page.killed_ns = now().count();
    kill(getpid(), SIGKILL);
  }
  for (int other = 0; other < rank; ++other) (void)random.next();
  if (moment.comes_first || random.one_in(2)) pause(std::chrono::microseconds(random.below(2000)));
  ++page.arrived;
  expect_death_of(victim, group);
  page.told_ns[static_cast<std::size_t>(rank)] = now().count();
  expect_death_of(victim, group);
  expect_sums(survivors, 8);
  ++page.content;
}

TEST_P(Meetings, OfWhichARankIsKilledNamesIt) {
  const int ranks = GetParam();
  const std::uint64_t first = only_seed().value_or(1), kills = only_seed() ? 1 : long_tests() ? 400 : 14;
  for (std::uint64_t seed = first; seed < first + kills && !HasFailure(); ++seed) {
    Random random(seed);
    const int victim = static_cast<int>(random.below(static_cast<std::size_t>(ranks)));
    const Moment moment = random_moment(random);
    const SharedPage<Page> page;
    const auto run = [&](int rank, int) { run_with_a_kill(rank, ranks, victim, moment, random, *page); };
    EXPECT_EQ(run_ranks(ranks, run, meetings_over_shm), killed_exit_code) << "seed " << seed;
    EXPECT_EQ(page->content, ranks - 1) << "seed " << seed << ", victim " << victim;
    for (int rank = 0; rank < ranks && !HasFailure(); ++rank) {
      const std::chrono::nanoseconds took(page->told_ns[static_cast<std::size_t>(rank)] - page->killed_ns);
      if (rank != victim) {
        EXPECT_LT(took, hang_bound * slowness()) << "rank " << rank << ", seed " << seed;
      }
    }
  }
}

// Many groups, one after another, and the victim dies at any time.
void run_until_a_death(int rank, int victim, std::chrono::microseconds after, std::uint64_t seed,
                       Page& page) {
  std::signal(SIGTERM, SIG_IGN);
  ProcessGroup world = init();
  std::vector<ProcessGroup> groups;
  for (int i = 0; i < 12; ++i) groups.push_back(world.dup());
  barrier_before_death(world, victim);
  if (rank == victim)
    std::thread([after] {
      std::this_thread::sleep_for(after);
      kill(getpid(), SIGKILL);
    }).detach();
  Random random(seed + static_cast<std::uint64_t>(rank) * 1000);
  const auto died = expect_throws<PeerDiedError>([&] {
    for (;;)
      for (ProcessGroup& group : groups) {
        if (random.one_in(4)) pause(std::chrono::microseconds(random.below(500)));
        expect_sums(group, 6);
      }
  });
  expect_equal(died.details().culprit, victim, std::string("culprit of: ") + died.what());
  for (ProcessGroup& group : groups) expect_death_of(victim, group);
  ++page.content;
}

TEST_P(Meetings, OfManyGroupsEndsWithADeathAtAnyTime) {
  const int ranks = GetParam();
  const std::uint64_t first = only_seed().value_or(1), kills = only_seed() ? 1 : long_tests() ? 400 : 6;
  for (std::uint64_t seed = first; seed < first + kills && !HasFailure(); ++seed) {
    Random random(seed);
    const int victim = static_cast<int>(random.below(static_cast<std::size_t>(ranks)));
    const auto after = std::chrono::microseconds(random.below(4000));
    const SharedPage<Page> page;
    const auto run = [&](int rank, int) { run_until_a_death(rank, victim, after, seed, *page); };
    EXPECT_EQ(run_ranks(ranks, run, meetings_over_shm), killed_exit_code) << "seed " << seed;
    EXPECT_EQ(page->content, ranks - 1) << "seed " << seed << ", victim " << victim;
  }
}

bool is_stopped(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string text;
  std::getline(file, text);
  const std::size_t end = text.rfind(')');  // of its name
  return end != std::string::npos && end + 2 < text.size() && text[end + 2] == 'T';
}

// Has the victim, once it is stopped for the `nth` time, go on after a while.
std::thread resume_later(const Page& page, int nth, std::chrono::microseconds after) {
  return std::thread([&page, nth, after] {
    await([&] { return page.stops == nth && is_stopped(page.victim); }, "the victim is stopped");
    std::this_thread::sleep_for(after);
    kill(page.victim, SIGCONT);
  });
}

// A group more, of which a rank is stopped while the ranks meet. All goes on, and they have boards then.
ProcessGroup meet_with_a_stop(ProcessGroup& world, int nth, Random& random, std::chrono::microseconds stop,
                              Page& page) {
  const int ranks = world.size(), rank = world.rank();
  const int victim = static_cast<int>(random.below(static_cast<std::size_t>(ranks)));
  const Moment moment = random_moment(random);
  ProcessGroup group = world.dup();
  for (int call = 0; call < 4; ++call) group.barrier();
  if (rank == victim) {
    page.arrived = 0;
    page.victim = getpid();
  }
  world.barrier();
  std::vector<int> value(5, rank);
  if (rank == victim) {
    Work work = call_until(group, moment, value, page);
    page.stops = nth;
    kill(getpid(), SIGSTOP);
    if (!moment.has_called) work = group.all_reduce(value, {.async_op = true});
    work.wait();
  } else {
    std::thread resumer;
    if (rank == (victim + 1) % ranks) resumer = resume_later(page, nth, stop);
    ++page.arrived;
    group.all_reduce(value);
    if (resumer.joinable()) resumer.join();
  }
  expect(value == std::vector<int>(5, ranks * (ranks - 1) / 2), "the sum of the call in which they met");
  expect_contains(group.describe_plan("all_reduce", 8), ": flat");
  expect_sums(group, 6);
  return group;
}

TEST_P(Meetings, OfWhichARankIsStoppedGoesOn) {
  const std::uint64_t seed = only_seed().value_or(7);
  const int rounds = long_tests() ? 400 : 15;
  const SharedPage<Page> page;
  const auto run = [&](int, int) {
    ProcessGroup world = init();
    Random random(seed);
    std::vector<ProcessGroup> kept;  // so that the next ones need memory that nobody has seen
    for (int round = 1; round <= rounds; ++round) {
      const auto stop = std::chrono::microseconds(random.below(random.one_in(4) ? 60'000 : 3000));
      ProcessGroup group = meet_with_a_stop(world, round, random, stop, *page);
      if (random.one_in(2)) kept.push_back(group);
      if (kept.size() > 6) kept.clear();
    }
    destroy();
  };
  EXPECT_EQ(run_ranks(GetParam(), run, meetings_over_shm), 0) << "seed " << seed;
}

// Longer than it takes the others to look what has become of it.
TEST(Meeting, OfWhichARankIsStoppedForSecondsGoesOn) {
  const std::uint64_t seed = only_seed().value_or(2);
  const SharedPage<Page> page;
  const auto run = [&](int, int) {
    ProcessGroup world = init();
    Random random(seed);
    (void)meet_with_a_stop(world, 1, random, 1300ms, *page);
    destroy();
  };
  EXPECT_EQ(run_ranks(3, run, meetings_over_shm), 0) << "seed " << seed;
}

// In any order, some without a look at the network until long after their call.
TEST_P(Meetings, OfRanksThatComeLateGoesOn) {
  const std::uint64_t seed = only_seed().value_or(3);
  const int rounds = long_tests() ? 2000 : 40;
  const auto run = [&](int rank, int ranks) {
    ProcessGroup world = init();
    Random random(seed + static_cast<std::uint64_t>(rank));
    for (int round = 0; round < rounds; ++round) {
      ProcessGroup group = world.dup();
      for (int call = 0; call < 4; ++call) group.barrier();
      if (random.one_in(2)) pause(std::chrono::microseconds(random.below(3000)));
      std::vector<int> first(5, rank), second(2000, rank);
      Work early = group.all_reduce(first, {.async_op = true});
      Work late = group.all_reduce(second, {.async_op = true});
      if (random.one_in(3)) pause(std::chrono::microseconds(random.below(5000)));
      late.wait();
      early.wait();
      expect(first == std::vector<int>(5, ranks * (ranks - 1) / 2), "the first sum");
      expect(second == std::vector<int>(2000, ranks * (ranks - 1) / 2), "the second sum");
      expect_contains(group.describe_plan("all_reduce", 8), ": flat");
      expect_sums(group, 3);
    }
    destroy();
  };
  EXPECT_EQ(run_ranks(GetParam(), run, meetings_over_shm), 0) << "seed " << seed;
}

}  // namespace
}  // namespace parley::testing

int main(int argc, char** argv) {
  return parley::testing::run_seeded_tests(argc, argv, "multiprocess_boards");
}
