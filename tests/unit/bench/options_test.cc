#include "bench/options.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/report_files.h"
#include "tests/unit/bench/mistake.h"

namespace parley::bench {
namespace {

std::optional<Options> parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "parley-bench");
  return parse_options(static_cast<int>(arguments.size()), arguments.data());
}

std::string mistake(const std::vector<const char*>& arguments) {
  return mistake_of([&] { parse(arguments); });
}

TEST(Options, DefaultsOfEachOperation) {
  const auto latency = parse({"latency"});
  ASSERT_TRUE(latency);
  EXPECT_EQ(latency->op, Op::latency);
  EXPECT_EQ(latency->transport, "tcp");
  EXPECT_EQ(latency->sizes, (std::vector<std::size_t>{8, 1024, 65536, 1048576}));
  // As the help says.
  EXPECT_EQ(latency->rounds, 21);
  EXPECT_EQ(latency->round_ms, 10);
  EXPECT_FALSE(latency->ranks);
  EXPECT_TRUE(latency->pin);
  EXPECT_TRUE(latency->json_file.empty());
  const auto rate = parse({"message-rate"});
  ASSERT_TRUE(rate);
  EXPECT_EQ(rate->op, Op::message_rate);
  EXPECT_EQ(rate->sizes, (std::vector<std::size_t>{8}));
}

TEST(Options, EverythingGiven) {
  const auto parsed = parse({"bandwidth", "--ranks", "4", "--transport", "tcp", "--sizes", "8:32", "--json",
                             "rows.json", "--rounds", "3", "--round-ms", "2.5"});
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->op, Op::bandwidth);
  EXPECT_EQ(parsed->ranks, 4);
  EXPECT_EQ(parsed->sizes, (std::vector<std::size_t>{8, 16, 32}));
  EXPECT_EQ(parsed->json_file, "rows.json");
  EXPECT_EQ(parsed->rounds, 3);
  EXPECT_EQ(parsed->round_ms, 2.5);
}

TEST(Options, BuffersMayBeWrittenAnewOverBothTransports) {
  for (const char* transport : {"tcp", "shm"}) {
    EXPECT_TRUE(parse({"latency", "--transport", transport, "--rewrite"})->rewrite) << transport;
    EXPECT_FALSE(parse({"latency", "--transport", transport})->rewrite) << transport;
  }
}

TEST(Options, EncryptionShowsInTheRows) {
  const auto parsed = parse({"latency", "--tls"});
  ASSERT_TRUE(parsed);
  EXPECT_TRUE(parsed->tls);
  EXPECT_EQ(parsed->transport, "tcp+tls");
  EXPECT_FALSE(parse({"latency"})->tls);
}

TEST(Options, PinningCanBeRefused) {
  const auto parsed = parse({"latency", "--no-pin"});
  ASSERT_TRUE(parsed);
  EXPECT_FALSE(parsed->pin);
}

TEST(Options, LimitsAreOfAllOperationsUnlessSomeAreNamed) {
  const auto all = parse({"limits"});
  ASSERT_TRUE(all);
  EXPECT_TRUE(all->limits);
  EXPECT_EQ(all->ops, (std::vector<Op>{Op::latency, Op::bandwidth, Op::bidirectional, Op::message_rate}));
  EXPECT_EQ(all->transport, "shm");
  EXPECT_TRUE(all->sizes.empty()) << "each operation has its own";
  EXPECT_FALSE(all->rewrite);
  const auto some =
      parse({"limits", "--ops", "message-rate,latency,latency", "--sizes", "8,1G", "--rewrite"});
  ASSERT_TRUE(some);
  EXPECT_EQ(some->ops, (std::vector<Op>{Op::message_rate, Op::latency}));
  EXPECT_EQ(some->sizes.size(), 2U);
  EXPECT_TRUE(some->rewrite);
  EXPECT_FALSE(parse({"latency"})->limits);
}

TEST(Options, SharedMemoryIsMeasuredForOneOperationBesideTheLoops) {
  const auto parsed = parse({"bandwidth", "--transport", "shm", "--rewrite"});
  ASSERT_TRUE(parsed);
  EXPECT_FALSE(parsed->limits);
  EXPECT_EQ(parsed->transport, "shm");
  EXPECT_EQ(parsed->ops, (std::vector<Op>{Op::bandwidth}));
  EXPECT_TRUE(parsed->rewrite);
  EXPECT_FALSE(parsed->sizes.empty());
}

TEST(Options, ArenaAndCrossMemoryBelongToParleyOverSharedMemory) {
  const auto parsed = parse({"latency", "--transport", "shm", "--arena", "--no-cma"});
  ASSERT_TRUE(parsed);
  EXPECT_TRUE(parsed->arena && parsed->no_cma);
  const auto plain = parse({"latency", "--transport", "shm"});
  EXPECT_FALSE(plain->arena || plain->no_cma);
}

TEST(Options, TwoTransportsMayTakeTurns) {
  EXPECT_TRUE(parse({"latency", "--transport", "shm,tcp", "--rewrite"})->two_transports);
  EXPECT_FALSE(parse({"latency", "--transport", "shm"})->two_transports);
  for (const char* of_one : {"--arena", "--no-cma", "--tls"})
    EXPECT_EQ(mistake({"latency", "--transport", "shm,tcp", of_one}),
              "--arena, --no-cma and --tls belong to one transport");
  EXPECT_EQ(mistake({"all_reduce", "--transport", "shm,tcp"}),
            "--transport shm,tcp belongs to messages between two ranks, in the host's memory");
}

TEST(Options, CollectivesHaveOptionsOfTheirOwn) {
  const auto parsed = parse({"all_reduce", "--async", "--algo", "ring", "--by-hand", "--read"});
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->op, Op::all_reduce);
  EXPECT_TRUE(parsed->async && parsed->by_hand && parsed->read);
  EXPECT_EQ(parsed->algorithm, "ring");
  const auto plain = parse({"gather"});
  EXPECT_FALSE(plain->async || plain->by_hand || plain->read);
  EXPECT_EQ(plain->algorithm, "");
  EXPECT_EQ(parse({"barrier", "--sizes", "8,16"})->sizes, (std::vector<std::size_t>{0}));
}

TEST(Options, BuffersLieOnDevicesOrAtOneEndOfAPair) {
  EXPECT_FALSE(parse({"latency"})->devices.has_device());
  const auto host = parse({"latency", "--device", "cpu"});
  EXPECT_FALSE(host->devices.has_device());
  EXPECT_EQ(host->transport, "tcp");
  const auto devices = parse({"all_reduce", "--device", "cuda"});
  EXPECT_EQ(to_string(devices->devices), "cuda");
  EXPECT_EQ(devices->transport, "shm");
  EXPECT_EQ(parse({"latency", "--device", "cuda", "--transport", "tcp"})->transport, "tcp");
  const auto mixed = parse({"bandwidth", "--device", "cpu,cuda"});
  EXPECT_EQ(mixed->devices.of(true), Memory::cpu);
  EXPECT_EQ(mixed->devices.of(false), Memory::cuda);
  EXPECT_EQ(to_string(mixed->devices), "cpu,cuda");
  EXPECT_EQ(to_string(parse({"bandwidth", "--device", "cuda,cuda"})->devices), "cuda");
  EXPECT_FALSE(devices->nccl);
  EXPECT_TRUE(parse({"all_reduce", "--device", "cuda", "--path", "nccl"})->nccl);
  EXPECT_FALSE(parse({"all_reduce", "--device", "cuda", "--path", "own"})->nccl);
}

TEST(Options, MistakesAreAnsweredInOneClearLine) {
  const std::string operations =
      "latency, bandwidth, bidirectional, message-rate, broadcast, reduce, all_reduce, all_gather, "
      "reduce_scatter, all_to_all, gather, scatter, barrier or limits";
  const std::vector<std::pair<std::vector<const char*>, std::string>> answers = {
      {{}, "which operation? Write " + operations},
      {{"foo"}, "there is no operation 'foo': write " + operations},
      {{"1"}, "there is no operation '1': write " + operations},
      {{"bandwith"}, "there is no operation 'bandwith': write " + operations + "; did you mean bandwidth?"},
      {{"lat"}, "there is no operation 'lat': write " + operations + "; did you mean latency?"},
      {{"latency", "8"}, "'8' is one word too many: one operation is measured at a time"},
      {{"latency", "--colour"}, "there is no option --colour"},
      {{"all_reduce", "--path", "nccl"}, "--path belongs to collectives with --device cuda"},
      {{"latency", "--device", "cuda", "--path", "nccl"}, "--path belongs to collectives with --device cuda"},
      {{"latency", "--json"}, "--json takes exactly one value"},
      {{"latency", "--json", ""}, "--json: which file?"},
      {{"latency", "--ranks", "2", "--ranks", "4"}, "--ranks takes exactly one value"},
      {{"latency", "--ranks", "3"},
       "3 ranks: ranks talk in pairs (0-1, 2-3, ...), so there must be an even number of them"},
      {{"latency", "--ranks", "1"}, "--ranks '1': write an even number from 2 to 1024"},
      {{"latency", "--ranks", "two"}, "--ranks 'two': write an even number from 2 to 1024"},
      {{"latency", "--ranks", "1000000"}, "--ranks '1000000': write an even number from 2 to 1024"},
      {{"latency", "--transport", "pigeon"}, "there is no transport 'pigeon': write tcp, shm or shm,tcp"},
      {{"latency", "--sizes", "8,8Q"},
       "--sizes: '8Q' is not a size: write a whole number of bytes, or of K, M or G (8, 64K, 1M)"},
      {{"latency", "--sizes", "8:4"}, "--sizes: '8:4' runs backwards: write the smaller size first"},
      {{"latency", "--sizes", ""},
       "--sizes: '' is not a size: write a whole number of bytes, or of K, M or G (8, 64K, 1M)"},
      {{"latency", "--sizes", "0"}, "--sizes: '0' is zero; the smallest message has 1 byte"},
      {{"latency", "--sizes", "99999999999999999999"}, "--sizes: '99999999999999999999' is more than 1024G"},
      {{"latency", "--rounds", "0"}, "--rounds '0': write a whole number from 1 to 100000"},
      {{"latency", "--rounds", "2.5"}, "--rounds '2.5': write a whole number from 1 to 100000"},
      {{"latency", "--round-ms", "-1"}, "--round-ms '-1': write milliseconds from 0.001 to 10000"},
      {{"limits", "--ops", "barrier"},
       "limits are of messages between two ranks, and barrier is a collective"},
      {{"all_reduce", "--sizes", "8,10"},
       "--sizes: collectives move 32-bit floats, and 10 is no multiple of 4"},
      {{"latency", "--async"}, "--async belongs to collectives"},
      {{"limits", "--algo", "ring"}, "--algo belongs to collectives"},
      {{"latency", "--read"}, "--read belongs to collectives"},
      {{"barrier", "--read"}, "--read belongs to what collectives bring to memory of the host"},
      {{"gather", "--read", "--device", "cuda"},
       "--read belongs to what collectives bring to memory of the host"},
      {{"barrier", "--async"}, "--async: a barrier is never"},
      {{"broadcast", "--by-hand"}, "--by-hand belongs to all_reduce of two ranks"},
      {{"all_reduce", "--by-hand", "--ranks", "4"}, "--by-hand belongs to all_reduce of two ranks"},
      {{"barrier", "--transport", "shm", "--arena"}, "--arena: a barrier moves nothing"},
      {{"all_reduce", "--ranks", "1"}, "--ranks '1': write a whole number from 2 to 1024"},
      {{"latency", "--arena"}, "--arena belongs to shared memory"},
      {{"latency", "--no-cma"}, "--no-cma belongs to shared memory"},
      {{"limits", "--arena"}, "--arena: limits are those of shared memory, without Parley"},
      {{"latency", "--transport", "shm", "--tls"}, "--tls belongs to tcp"},
      {{"latency", "--transport", "shm", "--sizes", "2G"},
       "--sizes: shared memory is measured up to 1G, for each pair shares four times that"},
      {{"latency", "--ops", "latency"}, "--ops belongs to limits"},
      {{"limits", "--transport", "tcp"}, "--transport: limits are those of shared memory, without Parley"},
      {{"limits", "--tls"}, "--tls: limits are those of shared memory, without Parley"},
      {{"limits", "--ops", "latency,speed"},
       "there is no operation 'speed': write latency, bandwidth, bidirectional or message-rate"},
      {{"limits", "--ops", ""},
       "there is no operation '': write latency, bandwidth, bidirectional or message-rate"},
      {{"limits", "--sizes", "2G"},
       "--sizes: shared memory is measured up to 1G, for each pair shares four times that"},
      {{"latency", "--device", "gpu"}, "there is no device 'gpu': write cpu or cuda; did you mean cpu?"},
      {{"latency", "--device", "cuda,"}, "there is no device '': write cpu or cuda"},
      {{"limits", "--device", "cuda"},
       "--device: those limits are measured beside Parley, by an operation's own name"},
      {{"barrier", "--device", "cuda"}, "--device: a barrier moves nothing"},
      {{"all_reduce", "--device", "cpu,cuda"},
       "--device: in a collective all ranks' buffers lie on one kind of device"},
      {{"latency", "--device", "cuda", "--arena"}, "--arena belongs to buffers of the host"},
      {{"all_reduce", "--device", "cuda", "--by-hand"}, "--by-hand belongs to buffers of the host"},
  };
  for (const auto& [arguments, answer] : answers) EXPECT_EQ(mistake(arguments), answer);
}

TEST(Options, TheNumberOfAnOperationIsNoOperation) {
  for (const char* word : {"0", "1", "2", "3"}) EXPECT_NE(mistake({word}), "") << word;
}

TEST(Options, HelpIsNoErrorAndSpeaksInWords) {
  testing::internal::CaptureStdout();
  EXPECT_FALSE(parse({"--help"}));
  const std::string help = testing::internal::GetCapturedStdout();
  for (const char* words : {"Usage: parley-bench OPERATION [OPTIONS]",
                            "latency, bandwidth, bidirectional, message-rate, broadcast", "--rounds N ",
                            "[21]", "--json FILE ", "--no-pin ", "Exit code: 2 wrong usage"}) {
    EXPECT_NE(help.find(words), std::string::npos) << words << "\n" << help;
  }
  for (const char* internals : {"INT", "FLOAT", "TEXT", "ENUM", "{", "->"}) {
    EXPECT_EQ(help.find(internals), std::string::npos) << internals << "\n" << help;
  }
}

TEST(Options, RanksComeInPairsOnOneHost) {
  EXPECT_NO_THROW(check_ranks(Op::latency, 2));
  EXPECT_NO_THROW(check_ranks(Op::latency, 4));
  for (const int ranks : {-2, 0, 1, 5, 2000})
    EXPECT_THROW(check_ranks(Op::latency, ranks), CommandLineError) << ranks;
  EXPECT_NO_THROW(check_ranks(Op::all_reduce, 3)) << "collectives have no pairs";
  for (const int ranks : {-2, 0, 1, 2000})
    EXPECT_THROW(check_ranks(Op::all_reduce, ranks), CommandLineError) << ranks;
}

TEST(Options, AFileThatCannotBeWrittenIsNamedWithTheReason) {
  try {
    check_writable("--json", "/nowhere/rows.jsonl");
    FAIL();
  } catch (const CommandLineError& error) {
    EXPECT_STREQ(error.what(), "--json: cannot write /nowhere/rows.jsonl: No such file or directory");
  }
}

}  // namespace
}  // namespace parley::bench
