// A table of measured choices: it decides, a group's own wish and PARLEY_ALGO win over it, and a rank with
// another table, or none, is told so by init().
#include <gtest/gtest.h>
#include <parley/parley.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "tests/multiprocess/support/own_store.h"
#include "tests/multiprocess/support/ranks.h"
#include "tests/unit/api/collectives/every_collective.h"

namespace parley::testing {
namespace {

// A tuning file that goes away at the end. The rows hold on each link, wherever cores are.
class TuningFile {
 public:
  TuningFile(const std::string& name, const std::vector<std::string>& rows)
      : path_(::testing::TempDir() + "parley-tuning-" + name + '-' + std::to_string(getpid())) {
    std::ofstream file(path_);
    file << "parley-tuning 1\n";
    for (const char* link : {" shm", " tcp"})
      for (const char* cores : {" own ", " shared "})
        for (const std::string& row : rows) {
          const std::size_t second = row.find(' ', row.find(' ') + 1);
          file << row.substr(0, second) << link << cores << row.substr(second + 1) << '\n';
        }
  }
  ~TuningFile() { std::remove(path_.c_str()); }
  TuningFile(const TuningFile&) = delete;
  TuningFile& operator=(const TuningFile&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST(Tuning, DecidesUpToItsSizesAndResultsAreRight) {
  const TuningFile file("decides", {"all_reduce 3 1024 recursive_doubling", "all_reduce 3 1000000 ring"});
  const int code = run_ranks(
      3,
      [](int, int) {
        ProcessGroup world = init();
        for (int turn = 0; turn < 2; ++turn) {  // before its ranks share memory, and after
          expect_contains(world.describe_plan("all_reduce", 1024), ": recursive_doubling");
          expect_contains(world.describe_plan("all_reduce", 1028), ": ring");
          expect_contains(world.describe_plan("all_reduce", 1028), ", as was measured (PARLEY_TUNING)");
          expect(world.describe_plan("all_reduce", 1'000'004).find("PARLEY_TUNING") == std::string::npos,
                 "nothing was measured beyond");
          for (const std::size_t count : {1, 256, 257, 250'000, 250'001})
            expect_every_collective(world, {.count = count, .root = 1});
        }
        expect(!::testing::Test::HasFailure(), "every result is right");
        // Another number of ranks.
        if (world.rank() < 2)
          expect(world.new_group({0, 1}).describe_plan("all_reduce", 8).find("TUNING") == std::string::npos,
                 "nothing was measured with two ranks");
        destroy();
      },
      {.environment = {{"PARLEY_TUNING", file.path()}}});
  EXPECT_EQ(code, 0);
}

// They are taken from when the ranks do; before that the model decides.
TEST(Tuning, MayNameAlgorithmsOfMemoryThatRanksShare) {
  const TuningFile file("shared", {"all_reduce 2 1024 slices", "all_reduce 2 1000000 flat"});
  const int code =
      run_ranks(2,
                [](int, int) {
                  ProcessGroup world = init();
                  expect_contains(world.describe_plan("all_reduce", 1024),
                                  "slices, which the file of PARLEY_TUNING gives, cannot: the ranks share no "
                                  "memory, or not before some calls");
                  for (const std::size_t count : {1, 256, 257, 250'000, 250'001})
                    expect_every_collective(world, {.count = count, .root = 1});
                  expect_contains(world.describe_plan("all_reduce", 1024), "memory: slices, ");
                  for (const std::size_t bytes : {1028, 1'000'000}) {
                    const std::string plan = world.describe_plan("all_reduce", bytes);
                    expect_contains(plan, "memory: flat, ");
                    expect_contains(plan, ", as was measured (PARLEY_TUNING)");
                  }
                  for (const std::size_t count : {1, 256, 257, 250'000, 250'001})
                    expect_every_collective(world, {.count = count, .root = 1});
                  expect(!::testing::Test::HasFailure(), "every result is right");
                  destroy();
                },
                {.environment = {{"PARLEY_TUNING", file.path()}, {"PARLEY_TRANSPORTS", "shm"}}});
  EXPECT_EQ(code, 0);
}

TEST(Tuning, GivesWayToAGroupsWishAndThatToTheEnvironments) {
  const TuningFile file("wish", {"all_reduce 2 any ring", "broadcast 2 any chain"});
  const int code =
      run_ranks(2,
                [](int, int) {
                  ProcessGroup world = init();
                  ProcessGroup group = world.dup({.algorithms = "all_reduce=linear,broadcast=linear"});
                  expect_contains(world.describe_plan("all_reduce", 8), ": ring");
                  expect_contains(group.describe_plan("all_reduce", 8), ": linear");
                  expect_contains(world.describe_plan("broadcast", 8), ": binomial");
                  expect_contains(group.describe_plan("broadcast", 8), ": binomial");
                  expect_every_collective(group, {.count = 1000, .root = 1});
                  expect(!::testing::Test::HasFailure(), "every result is right");
                  destroy();
                },
                {.environment = {{"PARLEY_TUNING", file.path()}, {"PARLEY_ALGO", "broadcast=binomial"}}});
  EXPECT_EQ(code, 0);
}

TEST(Tuning, OfAGroupIsAskedForAlikeAndByKnownNames) {
  const int code = run_ranks(2, [](int rank, int) {
    ProcessGroup world = init();
    const auto unknown =
        expect_throws<UsageError>([&] { (void)world.dup({.algorithms = "all_reduce=rings"}); });
    expect_contains(unknown.what(), "all_reduce has no algorithm called rings");
    const auto differ = [&] {
      (void)world.dup({.name = "one", .algorithms = rank == 0 ? "all_reduce=ring" : "all_reduce=linear"});
    };
    const auto odd = expect_throws<MismatchError>(differ);
    expect_contains(odd.what(), "one, all_reduce=ring");
    expect_contains(odd.what(), "one, all_reduce=linear");
    destroy();
  });
  EXPECT_EQ(code, 0);
}

TEST(Tuning, IsTheSameOnAllRanksOrTheyAreToldWhoDiffers) {
  const TuningFile one("one", {"all_reduce 3 any ring"});
  const TuningFile other("other", {"all_reduce 3 any linear"});
  const std::string address = free_address();
  for (const char* last : {"", other.path().c_str()}) {
    const int code = run_ranks(3, [&](int rank, int count) {
      setenv("PARLEY_TUNING", rank < 2 ? one.path().c_str() : last, 1);
      const auto join_world = [&] { (void)join(address, rank, count); };
      const std::string said = expect_throws<UsageError>(join_world).what();
      expect(said.starts_with("rank " + std::to_string(rank) + ": init() failed: "), said);
      expect_contains(said, "the ranks have different settings of algorithms: rank 0 (");
      expect_contains(said, ") has some with the digest ");
      expect_contains(said, "rank 2 (");
      expect_contains(said, *last == '\0' ? ") has none" : ") has some with the digest ");
      expect_contains(
          said, "set PARLEY_ALGO to the same on all ranks, and PARLEY_TUNING to the same file, or neither");
    });
    EXPECT_EQ(code, 0);
  }
}

// Some would write where others do not read.
TEST(Tuning, IsNotAskedForBySomeRanksAlone) {
  const std::string address = free_address();
  for (const char* last : {"", "all_reduce=flat", "reduce=slices"}) {
    const int code = run_ranks(3, [&](int rank, int count) {
      setenv("PARLEY_ALGO", rank < 2 ? "all_reduce=slices" : last, 1);
      const auto join_world = [&] { (void)join(address, rank, count); };
      const std::string said = expect_throws<UsageError>(join_world).what();
      expect_contains(said, "the ranks have different settings of algorithms: rank 0 (");
      expect_contains(said, "rank 2 (");
      expect_contains(said, *last == '\0' ? ") has none" : ") has some with the digest ");
      expect_contains(
          said, "set PARLEY_ALGO to the same on all ranks, and PARLEY_TUNING to the same file, or neither");
    });
    EXPECT_EQ(code, 0);
  }
}

TEST(Tuning, OfTheSameRowsInAnotherFileIsTheSame) {
  const TuningFile one("one", {"all_reduce 2 8 linear", "all_reduce 2 any ring"});
  const TuningFile other("other", {"all_reduce 2 any ring", "all_reduce 2 8 linear"});
  const int code = run_ranks(2, [&](int rank, int) {
    setenv("PARLEY_TUNING", (rank == 0 ? one : other).path().c_str(), 1);
    ProcessGroup world = init();
    world.barrier();
    destroy();
  });
  EXPECT_EQ(code, 0);
}

TEST(Tuning, ThatCannotBeReadIsAnErrorOfInit) {
  const TuningFile wrong("wrong", {"all_reduce 2 any rings"});
  const auto said_of = [](const std::string& path) {
    setenv("PARLEY_TUNING", path.c_str(), 1);
    forget_environment();
    return std::string(expect_throws<UsageError>([] { (void)init(); }).what());
  };
  const int code = run_ranks(1, [&](int, int) {
    expect_contains(said_of(wrong.path()),
                    "PARLEY_TUNING: " + wrong.path() + ", line 2: all_reduce has no algorithm called rings");
    expect_contains(said_of("/nowhere/table"),
                    "PARLEY_TUNING: /nowhere/table cannot be read: No such file or directory");
    expect_contains(said_of("/"), "PARLEY_TUNING: / cannot be read: Is a directory");
    expect_contains(said_of("/dev/zero"), "PARLEY_TUNING: /dev/zero cannot be read: it is no tuning file");
    expect_contains(said_of("/dev/null"), "PARLEY_TUNING: /dev/null, line 1: a tuning file begins with");
  });
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace parley::testing
