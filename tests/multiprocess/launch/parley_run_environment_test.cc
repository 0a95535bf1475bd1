// What the ranks find in their environment, and where the secret is not.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <parley/store.h>

#include <csignal>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "tests/multiprocess/launch/command.h"
#include "tests/multiprocess/launch/parley_run.h"

namespace parley::launch::testing {
namespace {

// Rank -> variable -> value, from the output of "launch_probe environment".
std::map<int, std::map<std::string, std::string>> environments(const std::string& output) {
  std::map<int, std::map<std::string, std::string>> all;
  for (const std::string& line : lines_of(output)) {
    const std::size_t equals = line.find('=');
    all[line.at(1) - '0'][line.substr(4, equals - 4)] = line.substr(equals + 1);
  }
  return all;
}

std::string read_file(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(ParleyRunEnvironment, IsWhatInitReads) {
  Command command(run_probe(3, {"environment"}, {"--env", "PROBE_EXTRA=a=b c"}),
                  {.environment = {{"RANK", "9"}}});
  ASSERT_EQ(command.finish(), 0);
  const auto all = environments(command.output());
  ASSERT_EQ(all.size(), 3U);
  std::set<std::string> shared;
  for (const auto& [rank, variables] : all) {
    EXPECT_EQ(variables.at("RANK"), std::to_string(rank));
    EXPECT_EQ(variables.at("LOCAL_RANK"), std::to_string(rank));
    EXPECT_EQ(variables.at("WORLD_SIZE"), "3");
    EXPECT_EQ(variables.at("LOCAL_WORLD_SIZE"), "3");
    EXPECT_EQ(variables.at("MASTER_ADDR"), "127.0.0.1");
    EXPECT_EQ(variables.at("PARLEY_STORE"), "launcher");
    EXPECT_EQ(variables.at("PROBE_EXTRA"), "a=b c");
    EXPECT_THAT(variables.at("PARLEY_SECRET"), ::testing::MatchesRegex("[0-9a-f]+"));
    EXPECT_EQ(variables.at("PARLEY_SECRET").size(), 64U);
    shared.insert(variables.at("MASTER_PORT") + variables.at("PARLEY_SECRET"));
  }
  EXPECT_EQ(shared.size(), 1U);
}

TEST(ParleyRunEnvironment, ASecretOfItsOwnForEveryJob) {
  std::set<std::string> secrets;
  for (int job = 0; job < 2; ++job) {
    Command command(run_probe(1, {"environment"}), {.environment = {{"PARLEY_SECRET", "inherited"}}});
    ASSERT_EQ(command.finish(), 0);
    secrets.insert(environments(command.output()).at(0).at("PARLEY_SECRET"));
  }
  EXPECT_EQ(secrets.size(), 2U);
  EXPECT_EQ(secrets.count("inherited"), 0U);
}

TEST(ParleyRunEnvironment, TheSecretIsInNoCommandLine) {
  Command command({run_program, "-n", "2", "--", "sh", "-c",
                   "echo pid=$$; echo secret=$PARLEY_SECRET.; echo ready; exec " + probe_program + " stay"});
  ASSERT_TRUE(command.await_output("ready", 4));
  const std::size_t at = command.output().find("secret=") + 7;
  const std::string secret = command.output().substr(at, command.output().find('.', at) - at);
  ASSERT_EQ(secret.size(), 64U);
  std::vector<pid_t> pids = numbers_after(command.output(), "pid=");
  pids.push_back(command.pid());
  for (const pid_t pid : pids) {
    const std::string command_line = read_file("/proc/" + std::to_string(pid) + "/cmdline");
    EXPECT_FALSE(command_line.empty());
    EXPECT_EQ(command_line.find(secret), std::string::npos);
  }
  EXPECT_EQ(read_file("/proc/" + std::to_string(command.pid()) + "/environ").find(secret), std::string::npos);
  command.send_signal(SIGTERM);
  EXPECT_EQ(command.finish(), 143);
}

// Neither the store's sockets nor the other ranks' pipes: a rank has what it would have without the launcher.
TEST(ParleyRunEnvironment, NoDescriptorOfTheLauncherLeaks) {
  Command direct({probe_program, "descriptors"});
  ASSERT_EQ(direct.finish(), 0);
  Command command(run_probe(3, {"descriptors"}));
  ASSERT_EQ(command.finish(), 0);
  for (int rank = 0; rank < 3; ++rank)
    EXPECT_EQ(count_of(command.output(), "[" + std::to_string(rank) + "] " + direct.output()), 1U);
}

TEST(ParleyRunEnvironment, TheStoreIsServedForWhoKnowsTheSecret) {
  Command command(
      {run_program, "-n", "1", "--", "sh", "-c",
       "echo port=$MASTER_PORT.; echo secret=$PARLEY_SECRET.; echo ready; exec " + probe_program + " stay"});
  ASSERT_TRUE(command.await_output("ready", 1));
  const std::string& output = command.output();
  const std::size_t at = output.find("secret=") + 7;
  TcpStoreOptions options;
  options.port = static_cast<std::uint16_t>(numbers_after(output, "port=").at(0));
  options.secret = output.substr(at, output.find('.', at) - at);
  options.timeout = std::chrono::seconds(30);
  const auto store = connect_tcp_store(options);
  store->set_string("key", "value");
  EXPECT_EQ(store->get_string("key"), "value");
  command.send_signal(SIGTERM);
  EXPECT_EQ(command.finish(), 143);
}

}  // namespace
}  // namespace parley::launch::testing
