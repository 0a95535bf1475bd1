// The real mpirun of Open MPI or of MPICH, on one host; CMakeLists.txt makes a program of each.

#include <gtest/gtest.h>

#include "tests/multiprocess/discovery/launched.h"
#include "tests/multiprocess/support/own_store.h"

namespace parley::testing {
namespace {

const std::string probe = PARLEY_DISCOVERY_PROBE;
const bool is_open_mpi = PARLEY_IS_OPEN_MPI != 0;

Words mpirun(int ranks, const Words& program, const Words& options = {}) {
  Words words{PARLEY_MPIRUN};
  if (is_open_mpi) words = words + Words{"--allow-run-as-root", "--oversubscribe"};
  return words + options + Words{"-n", std::to_string(ranks)} + program;
}

// How mpirun gives all ranks a variable.
Words variable(const std::string& name, const std::string& value) {
  if (is_open_mpi) return {"-x", name + "=" + value};
  return {"-genv", name, value};
}

class Mpirun : public ::testing::Test {
 protected:
  // Each mpirun of Open MPI has a folder of its own: two that make or remove the usual one at the same time
  // may fail ("mkdir ... File exists").
  [[nodiscard]] std::unique_ptr<Command> start(Words words) {
    if (is_open_mpi) {
      const std::string folder = runtime.path() + "/session" + std::to_string(++sessions_);
      std::filesystem::create_directory(folder);
      const Words where{"--mca", "orte_tmpdir_base", folder};
      words.insert(words.begin() + 1, where.begin(), where.end());
    }
    return std::make_unique<Command>(words,
                                     launch::testing::CommandOptions{.environment = runtime.environment()});
  }
  static void expect_ring(Command& command, int ranks) {
    EXPECT_EQ(command.finish(), 0) << command.output() << command.errors();
    EXPECT_EQ(launch::testing::sorted_lines(command.output()), expected_of(ranks)) << command.errors();
  }

  const RuntimeFolder runtime{};

 private:
  int sessions_ = 0;
};

TEST_F(Mpirun, ItsRanksFindEachOtherWithoutAnAddress) {
  const auto command = start(mpirun(4, {probe}));
  expect_ring(*command, 4);
  EXPECT_TRUE(std::filesystem::exists(runtime.path() + "/parley"));
  EXPECT_EQ(runtime.files(), 0U);
}

// The ranks are then not the children of the launcher's own process.
TEST_F(Mpirun, AShellMayStandBetween) {
  const auto command = start(mpirun(3, {"/bin/sh", "-c", probe + "; exit $?"}));
  expect_ring(*command, 3);
}

TEST_F(Mpirun, JobsAtTheSameTimeDoNotMeet) {
  std::vector<std::unique_ptr<Command>> commands;
  for (int ranks = 2; ranks <= 4; ++ranks) commands.push_back(start(mpirun(ranks, {probe})));
  for (int ranks = 2; ranks <= 4; ++ranks) expect_ring(*commands[static_cast<std::size_t>(ranks - 2)], ranks);
  EXPECT_EQ(runtime.files(), 0U);
}

TEST_F(Mpirun, AnAddressIsUsed) {
  const auto command = start(mpirun(3, {probe}, variable("PARLEY_STORE", free_address())));
  expect_ring(*command, 3);
  EXPECT_FALSE(std::filesystem::exists(runtime.path() + "/parley"));
}

TEST_F(Mpirun, AFileIsUsed) {
  const auto command =
      start(mpirun(2, {probe}, variable("PARLEY_STORE", "file://" + runtime.path() + "/ours")));
  expect_ring(*command, 2);
  EXPECT_FALSE(std::filesystem::exists(runtime.path() + "/parley"));
  EXPECT_FALSE(std::filesystem::exists(runtime.path() + "/ours"));
}

TEST_F(Mpirun, OneRankIsAWorldOfOne) {
  const auto command = start(mpirun(1, {probe}));
  expect_ring(*command, 1);
}

TEST_F(Mpirun, WhatWasLeftOverFromElsewhereIsToldApart) {
  const auto words = mpirun(2, {probe},
                            variable("RANK", "0") + variable("WORLD_SIZE", "1") +
                                variable("MASTER_ADDR", "127.0.0.1") + variable("MASTER_PORT", "1"));
  const auto command = start(words);
  EXPECT_NE(command->finish(), 0);
  EXPECT_NE(command->output().find("contradict each other"), std::string::npos) << command->output();
}

}  // namespace
}  // namespace parley::testing
