// The example programs, with and without a launcher, against the outputs kept beside them.

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <tuple>

#include "tests/multiprocess/launch/command.h"

namespace parley::launch::testing {
namespace {

const std::string run_program = PARLEY_RUN_PROGRAM;
const std::string programs_folder = PARLEY_EXAMPLES_PROGRAMS;
const std::string expected_folder = PARLEY_EXAMPLES_EXPECTED;

std::string expected_output(const std::string& name) {
  std::ifstream file(expected_folder + "/" + name + ".txt");
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_FALSE(text.str().empty()) << name;
  return text.str();
}

class Example : public ::testing::TestWithParam<std::tuple<std::string, int>> {
 protected:
  [[nodiscard]] static std::string program() { return programs_folder + "/" + std::get<0>(GetParam()); }
  [[nodiscard]] static std::string ranks() { return std::to_string(std::get<1>(GetParam())); }

  // Ranks print at the same time, so lines are compared sorted.
  static void expect_output(Command& command) {
    EXPECT_EQ(command.finish(), 0) << command.errors();
    EXPECT_EQ(sorted_lines(command.output()), expected_output(std::get<0>(GetParam()) + "_" + ranks()));
    EXPECT_EQ(command.errors(), "");
  }
};

TEST_P(Example, StartsItsOwnRanks) {
  Command command({program(), "--world-size", ranks()});
  expect_output(command);
}

TEST_P(Example, RunsUnderParleyRun) {
  Command command({run_program, "-n", ranks(), "--no-prefix", program()});
  expect_output(command);
}

INSTANTIATE_TEST_SUITE_P(Programs, Example,
                         ::testing::Combine(::testing::Values("chain", "ping_pong", "blocking", "nonblocking",
                                                              "ring_allreduce", "pipeline", "collectives"),
                                            ::testing::Values(4, 8)),
                         [](const auto& of) {
                           return std::get<0>(of.param) + "_" + std::to_string(std::get<1>(of.param));
                         });

// As in the picture at its head.
INSTANTIATE_TEST_SUITE_P(Groups, Example, ::testing::Values(std::tuple<std::string, int>("groups", 11)),
                         [](const auto&) { return std::string("groups_11"); });

// As torch.distributed prints it with two ranks.
INSTANTIATE_TEST_SUITE_P(Ring, Example,
                         ::testing::Combine(::testing::Values("batch_ring"), ::testing::Values(2, 5)),
                         [](const auto& of) { return "of_" + std::to_string(std::get<1>(of.param)); });

TEST(ChainExample, PrintsInTheOrderOfTheChain) {
  Command command({programs_folder + "/chain"});  // four ranks, unless told otherwise
  ASSERT_EQ(command.finish(), 0);
  const std::vector<std::string> lines = lines_of(command.output());
  const auto place = [&](const std::string& line) {
    return std::find(lines.begin(), lines.end(), line) - lines.begin();
  };
  EXPECT_LT(place("[Rank 1] Received: 42.0"), place("[Rank 1] After adding 10: 52.0"));
  EXPECT_LT(place("[Rank 3] Received: 62.0"), place("[Rank 3] Final value: 72.0, expected: 72.0"));
}

TEST(ChainExample, OfOneRankIsTheFirstAndTheLast) {
  Command command({programs_folder + "/chain", "--world-size", "1"});
  EXPECT_EQ(command.finish(), 0) << command.errors();
  EXPECT_EQ(command.output(),
            "[Rank 0] Starting chain with value: 42.0\n"
            "[Rank 0] Final value: 42.0, expected: 42.0\n");
}

// Both ways of starting say why there is no device, whatever the machine has.
TEST_P(Example, SaysWhyThereIsNoDevice) {
  const CommandOptions options{.environment = {{"PARLEY_CUDA", "off"}}};
  Command alone({program(), "--world-size", ranks(), "--device", "cuda"}, options);
  Command launched({run_program, "-n", ranks(), "--no-prefix", program(), "--device", "cuda"}, options);
  for (Command* command : {&alone, &launched}) {
    EXPECT_EQ(command->finish(), 1) << command->output();
    EXPECT_GE(count_of(command->errors(), "there is no CUDA here: PARLEY_CUDA=off is set"), 1U)
        << command->errors();
    EXPECT_EQ(command->output(), "");
  }
}

TEST(PingPongExample, SaysWhoHasNoPartner) {
  Command one({run_program, "-n", "1", "--no-prefix", programs_folder + "/ping_pong"});
  EXPECT_EQ(one.finish(), 0) << one.errors();
  EXPECT_EQ(one.output(), "[Rank 0] No partner: rank 1 is missing, the number of ranks is odd\n");
  Command three({programs_folder + "/ping_pong", "--world-size", "3"});
  EXPECT_EQ(three.finish(), 0) << three.errors();
  EXPECT_EQ(count_of(three.output(), "[Rank 2] No partner: rank 3 is missing"), 1U) << three.output();
  EXPECT_EQ(count_of(three.output(), "[Rank 1] after send: 2.0"), 1U) << three.output();
}

// Both ranks are told of the deadlock, and the exchange works once they take turns. The two ways of starting
// run side by side, for each takes more than ten seconds.
TEST(ChainExample, ShowsADeadlockAndTheWayOut) {
  Command alone({programs_folder + "/chain", "--show-deadlock"});
  Command launched({run_program, "-n", "2", "--no-prefix", programs_folder + "/chain", "--show-deadlock"});
  for (Command* command : {&alone, &launched}) {
    EXPECT_EQ(command->finish(), 0) << command->errors();
    EXPECT_EQ(sorted_lines(command->output()), expected_output("chain_show_deadlock"));
  }
}

}  // namespace
}  // namespace parley::launch::testing
