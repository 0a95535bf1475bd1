#include "tools/sim/options.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tools/sim/manual.h"
#include "tools/sim/quantity.h"

namespace parley::sim {
namespace {

Options parse(std::vector<const char*> words) {
  words.insert(words.begin(), "build/bin/parley-sim");
  return parse_options(static_cast<int>(words.size()), words.data());
}

std::string refusal(const std::vector<const char*>& words) {
  try {
    const Options options = parse(words);
    for (const std::uint64_t ranks : options.ranks) setting_for(options, library_model(), ranks);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(Quantities, AreListsAndRanges) {
  using Counts = std::vector<std::uint64_t>;
  EXPECT_EQ(parse_counts("--ranks", "8:64"), (Counts{8, 16, 32, 64}));
  EXPECT_EQ(parse_counts("--ranks", "8:600:x4,7"), (Counts{8, 32, 128, 512, 7}));
  EXPECT_EQ(parse_counts("--bytes", "64K,1g"), (Counts{65536, 1 << 30}));
  EXPECT_EQ(parse_duration_ns("--alpha", "2.5us"), 2500);
  EXPECT_EQ(parse_duration_ns("--alpha", "40ps"), 0.04);
  EXPECT_NEAR(parse_byte_ns("--beta", "25G"), 0.04, 1e-12);
  EXPECT_NEAR(parse_byte_ns("--beta", "25GB/s"), 0.04, 1e-12);
  EXPECT_NEAR(parse_byte_ns("--beta", "40ps"), 0.04, 1e-12);
}

TEST(Quantities, AreWrittenForReaders) {
  EXPECT_EQ(format_bytes(1000), "1000 B");
  EXPECT_EQ(format_bytes(65536), "64 KiB");
  EXPECT_EQ(format_ns(0), "0.00 ns");
  EXPECT_EQ(format_ns(999.6), "1.00 us");
  EXPECT_EQ(format_ns(24'000), "24.0 us");
  EXPECT_EQ(format_ns(5e9), "5.00 s");
  EXPECT_EQ(format_rate(0.04), "25 GB/s");
}

TEST(Options, SayWhatIsWrongInASentence) {
  EXPECT_EQ(refusal({"--ranks", "8:x"}),
            "--ranks x: is no whole number above 0, with K, M or G for powers of 1024 (8, 64K, 1M)");
  EXPECT_EQ(refusal({"--ranks", "64:8"}),
            "--ranks 64:8: the range runs backwards: write the smaller number first");
  EXPECT_EQ(refusal({"--ranks", "8:64:x1"}),
            "--ranks 8:64:x1: a range is FIRST:LAST, which doubles, or FIRST:LAST:xFACTOR with a whole "
            "factor above 1, "
            "as 8:64K:x4");
  EXPECT_EQ(refusal({"--ranks", "2M"}), "--ranks 2097152: at most 1048576 can be looked at");
  EXPECT_EQ(refusal({"--alpha", "3"}),
            "--alpha 3: is no duration: write a number with ps, ns, us, ms or s, as 2.5us");
  EXPECT_EQ(refusal({"--beta", "fast"}),
            "--beta fast: is neither bytes a second (25G, 25GB/s) nor the time of a byte (40ps)");
  EXPECT_EQ(refusal({"--hosts", "4", "--per-host", "8"}),
            "--hosts and --per-host say the same thing twice: give one of them");
  EXPECT_EQ(refusal({"--ranks", "10", "--hosts", "4"}),
            "--hosts 4: 10 ranks cannot be spread evenly over them");
  EXPECT_EQ(
      refusal({"--straggler", "3"}),
      "--straggler 3: write RANK:FACTOR (17:3), normal:SIZE:SEED or exponential:SIZE:SEED (normal:0.1:1)");
  EXPECT_EQ(refusal({"--straggler", "3:0.5"}), "--straggler 3:0.5: a straggler takes at least once its time");
  EXPECT_NE(refusal({"--op", "allreduce"}).find("--op allreduce: is none of broadcast"), std::string::npos);
  EXPECT_NE(refusal({"--algorithms", "rings"}).find("--algorithms rings: all_reduce has linear"),
            std::string::npos);
  EXPECT_EQ(refusal({"--ranks"}), "--ranks: its value is missing");
  EXPECT_EQ(refusal({"--rails", "4G"}), "--rails 4G: a host has at most 1024");
  EXPECT_EQ(refusal({"--lose", "99999999999"}), "--lose 99999999999: is no host: write its number, from 0");
  EXPECT_EQ(refusal({"--lose", "-1"}), "--lose -1: is no host: write its number, from 0");
  EXPECT_EQ(refusal({"--rack", "8G:2"}), "");
  EXPECT_NE(refusal({"--nonsense"}).find("--nonsense"), std::string::npos);
  EXPECT_EQ(refusal({"--op", "broadcast", "--ranks", "8", "--per-host", "8"}), "");
}

TEST(Options, LayRanksOutAndPutPricesIn) {
  const Options options = parse({"--ranks", "64", "--per-host", "8", "--rails", "2", "--rack", "4:3",
                                 "--beta", "25G", "--alpha", "2us", "--gamma", "10G"});
  const Setting setting = setting_for(options, with_prices(library_model(), options), 64);
  EXPECT_EQ(setting.network.hosts(), 8U);
  EXPECT_EQ(setting.network.racks(), 2U);
  EXPECT_EQ(setting.network.rail(9), 3U);
  EXPECT_NEAR(setting.network.rail_byte_ns, 0.04, 1e-12);
  EXPECT_NEAR(setting.network.uplink_byte_ns(), 0.04 * 3 / 8, 1e-12);
  EXPECT_EQ(setting.model.far.pieces[0].latency_ns, 2000);
  EXPECT_NEAR(setting.model.fold_byte_ns, 0.1, 1e-12);
}

TEST(Options, AreAllInTheManual) {
  for (const char* option :
       {"--op",        "--ranks",      "--bytes",     "--element",       "--algorithms",   "--shared-tensors",
        "--hosts",     "--per-host",   "--rails",     "--rack",          "--alpha",        "--beta",
        "--overhead",  "--near-alpha", "--near-beta", "--near-overhead", "--uplink-alpha", "--gamma",
        "--calibrate", "--straggler",  "--lose",      "--most-steps",    "--all",          "--json",
        "--html",      "--svg",        "--quiet",     "--version",       "--help"})
    EXPECT_NE(manual().find(option), std::string_view::npos) << option;
}

}  // namespace
}  // namespace parley::sim
