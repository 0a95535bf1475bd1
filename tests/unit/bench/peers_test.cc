// What is pure about the peers: their command line, and how their launchers are called.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/peers/launcher.h"
#include "bench/peers/peer_options.h"
#include "tests/unit/bench/mistake.h"

namespace parley::bench {
namespace {

constexpr std::array<std::string_view, 2> transports = {"shm", "tcp"};
constexpr PeerProgram program{"peer-x", "X", transports, [] { return std::string("X 1.2"); }};

std::optional<PeerOptions> parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "peer-x");
  return parse_peer_options(program, static_cast<int>(arguments.size()), arguments.data());
}

std::string mistake(const std::vector<const char*>& arguments) {
  return mistake_of([&] { parse(arguments); });
}

TEST(PeerOptions, HaveDefaults) {
  const auto options = parse({"all_reduce"});
  ASSERT_TRUE(options);
  EXPECT_EQ(options->op, Op::all_reduce);
  EXPECT_EQ(options->ranks, 2);
  EXPECT_EQ(options->transport, "shm");
  EXPECT_EQ(options->sizes, (std::vector<std::size_t>{8, 1024, 65536, 1048576}));
  EXPECT_EQ(options->rounds, 21);
  EXPECT_EQ(options->round_ms, 10);
  EXPECT_FALSE(options->rewrite);
  EXPECT_TRUE(options->pin);
}

TEST(PeerOptions, EverythingGiven) {
  const auto options =
      parse({"bidirectional", "--ranks", "4", "--transport", "tcp", "--sizes", "8:32", "--rounds", "3",
             "--round-ms", "0.5", "--json", "rows.jsonl", "--rewrite", "--no-pin"});
  ASSERT_TRUE(options);
  EXPECT_EQ(options->op, Op::bidirectional);
  EXPECT_EQ(options->ranks, 4);
  EXPECT_EQ(options->transport, "tcp");
  EXPECT_EQ(options->sizes, (std::vector<std::size_t>{8, 16, 32}));
  EXPECT_EQ(options->rounds, 3);
  EXPECT_EQ(options->round_ms, 0.5);
  EXPECT_EQ(options->json_file, "rows.jsonl");
  EXPECT_TRUE(options->rewrite);
  EXPECT_FALSE(options->pin);
}

TEST(PeerOptions, EveryOperationHasItsName) {
  for (const Operation& each : operations) EXPECT_EQ(parse({each.name.data()})->op, each.op) << each.name;
}

TEST(PeerOptions, ABarrierMovesNothing) {
  EXPECT_EQ(parse({"barrier", "--sizes", "8,16"})->sizes, (std::vector<std::size_t>{0}));
}

TEST(PeerOptions, MistakesAreAnsweredInOneClearLine) {
  const std::vector<std::pair<std::vector<const char*>, std::string>> answers = {
      {{"latency", "--ranks", "3"}, "3 ranks: ranks talk in pairs"},
      {{"latency", "--ranks", "two"}, "--ranks 'two': write an even number from 2 to 1024"},
      {{"latency", "--transport", "pigeon"}, "there is no transport 'pigeon': write shm or tcp"},
      {{"all_reduce", "--sizes", "8,10"},
       "--sizes: collectives move 32-bit floats, and 10 is no multiple of 4"},
      {{"latency", "--rounds", "0"}, "--rounds '0': write a whole number from 1 to 100000"},
      {{"latency", "--colour"}, "there is no option --colour"},
      {{"allreduce"}, "there is no operation 'allreduce'"},
      {{}, "which operation? Write latency, "},
  };
  for (const auto& [arguments, answer] : answers) EXPECT_EQ(mistake(arguments).find(answer), 0U) << answer;
}

std::string joined(const Launch& launch) {
  std::string text;
  for (const std::string& word : launch.command) text += word + " ";
  return text;
}

TEST(Launch, OpenMpiHasTheTransportThatIsMeasured) {
  PeerOptions options;
  options.transport = "shm";
  const std::string shm = joined(openmpi_launch(options, {}));
  EXPECT_EQ(shm.find("mpirun.openmpi --oversubscribe --bind-to none -np 2 "), 0U) << shm;
  EXPECT_NE(shm.find("--mca btl self,vader "), std::string::npos) << shm;
  EXPECT_NE(shm.find("--mca mpi_yield_when_idle 0 "), std::string::npos) << shm;
  EXPECT_EQ(shm.find("--allow-run-as-root"), std::string::npos) << shm;
  options.transport = "tcp";
  options.ranks = 4;
  const std::string tcp = joined(openmpi_launch(options, {.oversubscribed = true, .root = true}));
  for (const char* words : {"-np 4 ", "--allow-run-as-root ", "--mca btl self,tcp ",
                            "--mca btl_tcp_if_include lo ", "--mca mpi_yield_when_idle 1 "}) {
    EXPECT_NE(tcp.find(words), std::string::npos) << tcp;
  }
}

TEST(Launch, MpichIsToldByItsEnvironment) {
  PeerOptions options;
  options.transport = "shm";
  EXPECT_EQ(joined(mpich_launch(options, {})), "mpiexec.mpich -n 2 ");
  EXPECT_TRUE(mpich_launch(options, {}).environment.empty());
  options.transport = "tcp";
  const auto environment = mpich_launch(options, {}).environment;
  EXPECT_EQ(environment.at("MPIR_CVAR_NOLOCAL"), "1");
  EXPECT_EQ(environment.at("UCX_TLS"), "tcp,self");
}

}  // namespace
}  // namespace parley::bench
