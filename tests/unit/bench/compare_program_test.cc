// Runs `parley-bench compare` with systems that are made up: what comes out is known.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/unit/bench/program.h"

namespace {

using parley::bench::run_bench;

class ParleyBenchCompare : public testing::Test {
 protected:
  ParleyBenchCompare() {
    std::string pattern = testing::TempDir() + "parley-compare-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
  }
  ~ParleyBenchCompare() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string path(const std::string& name) const { return folder_ + "/" + name; }

  // A program that is the fake with these settings.
  [[nodiscard]] std::string fake(const std::string& name, const std::string& options,
                                 const std::string& environment = "") const {
    std::ofstream(path(name)) << "#!/bin/sh\n"
                              << environment << " exec python3 -IS " << PARLEY_FAKE_CONTENDER << " \"$@\" "
                              << options << " --counter " << path(name) << ".count\n";
    ::chmod(path(name).c_str(), 0755);
    return path(name);
  }
  [[nodiscard]] std::string parley(const std::string& options = "") const {
    return "--parley " + fake("parley", options) + " ";
  }
  [[nodiscard]] std::string peer(const std::string& name, const std::string& options,
                                 const std::string& environment = "") const {
    return "--peer " + name + "=" + fake(name, "--system " + name + " " + options, environment) + " ";
  }
  [[nodiscard]] std::size_t launches_of(const std::string& name) const {
    return std::filesystem::exists(path(name) + ".count") ? std::filesystem::file_size(path(name) + ".count")
                                                          : 0;
  }

  int compare(const std::string& arguments) {
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const int code = run_bench(
        "compare --ops latency,bandwidth --ranks 2 --transport shm --buffers kept --sizes 8,64K --peers "
        "raw " +
        arguments);
    output_ = testing::internal::GetCapturedStdout();
    errors_ = testing::internal::GetCapturedStderr();
    return code;
  }
  [[nodiscard]] std::vector<nlohmann::json> rows(const std::string& name) const {
    std::vector<nlohmann::json> found;
    std::ifstream file(path(name));
    for (std::string line; std::getline(file, line);) found.push_back(nlohmann::json::parse(line));
    return found;
  }
  [[nodiscard]] bool said(const std::string& text) const { return output_.find(text) != std::string::npos; }

  std::string folder_;
  std::string output_;
  std::string errors_;
};

TEST_F(ParleyBenchCompare, WritesAllReports) {
  ASSERT_EQ(
      compare(parley() + peer("openmpi", "--factor 3") + "--rounds 4 --json " + path("rows.jsonl") +
              " --csv " + path("rows.csv") + " --html " + path("page.html") + " --svg " + path("charts")),
      0)
      << errors_;
  EXPECT_EQ(launches_of("parley"), 8U);
  EXPECT_EQ(launches_of("openmpi"), 8U);
  int own = 0;
  for (const auto& row : rows("rows.jsonl")) {
    EXPECT_EQ(row["rounds"], 4);
    if (row["system"] != "parley") continue;
    ++own;
    EXPECT_EQ(row["best_peer"], "openmpi");
    EXPECT_NEAR(row["time_to_best_peer"][0].get<double>(), 2.0 / 3, 0.05);
    EXPECT_NEAR(row["time_to_limit"][0].get<double>(), 2, 0.15);
  }
  EXPECT_EQ(own, 4);
  EXPECT_TRUE(said("== latency: us"));
  EXPECT_TRUE(std::filesystem::exists(path("charts/bandwidth-shm-2-kept.svg")));
  EXPECT_GT(std::filesystem::file_size(path("page.html")), 5000U);
  EXPECT_GT(std::filesystem::file_size(path("rows.csv")), 500U);
}

// What the promise "compared with itself the ratio is 1" means, with noise that is known.
TEST_F(ParleyBenchCompare, ASystemAgainstItselfIsOneWithinItsInterval) {
  ASSERT_EQ(compare(parley() + "--peer self=" + fake("self", "--seed 1") + " --rounds 9 --json " +
                    path("rows.jsonl")),
            0)
      << errors_;
  for (const auto& row : rows("rows.jsonl")) {
    if (row["system"] != "parley") continue;
    EXPECT_EQ(row["best_peer"], "self");
    EXPECT_LE(row["time_to_best_peer"][1], 1);
    EXPECT_GE(row["time_to_best_peer"][2], 1);
  }
}

TEST_F(ParleyBenchCompare, APeerThatIsThereTwiceHasTwoColumns) {
  ASSERT_EQ(compare(parley() + "--peer openmpi=" + fake("peer-openmpi", "--system openmpi") +
                    " --peer self=" + fake("peer-openmpi.other", "--system openmpi --factor 3") +
                    " --rounds 2 --json " + path("rows.jsonl")),
            0)
      << errors_;
  std::map<std::string, int> lines;
  for (const auto& row : rows("rows.jsonl")) {
    EXPECT_EQ(row["rounds"], 2) << row["system"];
    ++lines[row["system"]];
  }
  EXPECT_EQ(lines, (std::map<std::string, int>{{"parley", 4}, {"raw", 4}, {"openmpi", 4}, {"self", 4}}));
}

TEST_F(ParleyBenchCompare, ASlowedLibraryIsCaught) {
  const std::string base = path("base.jsonl");
  ASSERT_EQ(compare(parley() + "--rounds 5 --json " + base), 0) << errors_;
  EXPECT_EQ(compare(parley() + "--rounds 5 --compare " + base), 0) << output_;
  EXPECT_TRUE(said("4 lines compared: 0 slower"));
  EXPECT_EQ(compare(parley("--factor 2.6") + "--rounds 5 --compare " + base), 1);
  EXPECT_TRUE(said("SLOWER  latency, shm, 2 ranks, buffers kept, 8 B: 1.")) << output_;
  EXPECT_TRUE(said("4 lines compared: 4 slower"));
  EXPECT_EQ(compare(parley("--factor 2.6") + "--rounds 5 --tolerance 50 --compare " + base), 0);
}

TEST_F(ParleyBenchCompare, FailsWhenNothingCanBeCompared) {
  const std::string base = path("base.jsonl");
  ASSERT_EQ(compare(parley() + "--rounds 3 --json " + base), 0) << errors_;
  EXPECT_EQ(compare(parley() + "--rounds 2 --compare " + base), 1);
  EXPECT_TRUE(said("; 4 not comparable")) << output_;
  EXPECT_TRUE(said("\nNothing at all could be compared with the earlier run")) << output_;
}

TEST_F(ParleyBenchCompare, HoldsTheLibraryToAMultipleOfItsLimit) {
  EXPECT_EQ(compare(parley() + "--rounds 3 --at-most 2.5"), 0) << output_;
  EXPECT_EQ(compare(parley() + "--rounds 3 --at-most 1.5"), 1);
  EXPECT_TRUE(said("BEYOND  latency, shm, 2 ranks, buffers kept, 8 B: "));
  EXPECT_EQ(compare(parley() + "--rounds 2 --at-most 2.5"), 1);
  EXPECT_TRUE(said("No line could be held against its limit")) << output_;
}

TEST_F(ParleyBenchCompare, ARawLoopWithoutItsSpinIsVoid) {
  ASSERT_EQ(compare(parley("--limit-factor 100") + "--rounds 3 --json " + path("rows.jsonl")), 0) << errors_;
  EXPECT_TRUE(said("# raw is void: the raw loop took"));
  for (const auto& row : rows("rows.jsonl")) {
    if (row["op"] != "latency" || row["bytes"] != 8) continue;
    EXPECT_EQ(row["void"].is_null(), row["system"] == "parley");
    EXPECT_TRUE(row["time_to_limit"].is_null());
  }
}

TEST_F(ParleyBenchCompare, AStolenCoreVoidsARun) {
  EXPECT_EQ(compare(parley("--probe-ns 24000") + "--rounds 3"), 1);
  EXPECT_TRUE(said("# parley is void: a flag took 24000 ns between the two cores")) << output_;
}

TEST_F(ParleyBenchCompare, GoesOnWithoutThoseThatFail) {
  ASSERT_EQ(
      compare(parley() + peer("broken", "", "FAKE_BEHAVIOUR=fail") +
              peer("simple", "", "FAKE_BEHAVIOUR=unsupported") + peer("mute", "", "FAKE_BEHAVIOUR=silent") +
              peer("strange", "", "FAKE_BEHAVIOUR=garbage") + peer("good", "") + "--rounds 2"),
      0)
      << errors_;
  EXPECT_TRUE(said("# broken failed (2 times): exit code 1: the fake has failed")) << output_;
  EXPECT_TRUE(said("# simple does not do this: the fake does no latency"));
  EXPECT_TRUE(said("# mute failed (2 times): it has written no rows"));
  EXPECT_TRUE(said("# strange failed (2 times): a row cannot be used"));
  // Asked once for each case, and in each round.
  EXPECT_EQ(launches_of("simple"), 2U);
  EXPECT_EQ(launches_of("broken"), 4U);
  EXPECT_EQ(launches_of("good"), 4U);
}

TEST_F(ParleyBenchCompare, FailsWhenParleyCannotBeMeasured) {
  EXPECT_EQ(compare("--parley " + fake("parley", "", "FAKE_BEHAVIOUR=fail") + " --rounds 3"), 1);
  EXPECT_NE(errors_.find("Parley could not be measured"), std::string::npos) << errors_;
}

TEST_F(ParleyBenchCompare, EndsItsChildrenWhenItIsToldToEnd) {
  // The shell sends the signal when the child, which hangs, has been launched.
  const std::string count = path("parley.count");
  const std::string parley_option = "--parley " + fake("parley", "", "FAKE_BEHAVIOUR=hang");
  const std::string script = path("script");
  std::ofstream(script) << "#!/bin/sh\n"
                        << PARLEY_BENCH_PROGRAM
                        << " compare --ops latency --ranks 2 --transport shm --peers raw " << parley_option
                        << " --rounds 3 &\n"
                        << "while ! [ -s " << count << " ]; do sleep 0.1; done\n"
                        << "kill -TERM $!\nwait $!\n";
  testing::internal::CaptureStderr();
  const int status = std::system(("/bin/sh " + script).c_str());
  testing::internal::GetCapturedStderr();
  EXPECT_EQ(WEXITSTATUS(status), 128 + 15);
}

TEST_F(ParleyBenchCompare, ShortensTheRoundAfterOneThatTookTooLong) {
  const std::string late = "--parley " + fake("parley", "", "FAKE_BEHAVIOUR='late at first'") + " ";
  EXPECT_EQ(compare(late + "--rounds 3 --minutes 0.1"), 0) << errors_;
  EXPECT_NE(errors_.find(" times as long as planned: later ones are made shorter"), std::string::npos)
      << errors_;
  std::ifstream file(path("parley.count.efforts"));
  const std::vector<double> efforts{std::istream_iterator<double>(file), {}};
  ASSERT_GE(efforts.size(), 3U) << "two cases, in more than one round";
  EXPECT_EQ(efforts[1], efforts[0]) << "the round that was late";
  EXPECT_LT(efforts[2], efforts[0]) << "the next one";
}

TEST_F(ParleyBenchCompare, AMistakeIsAnsweredBeforeAnythingIsLaunched) {
  EXPECT_EQ(compare(parley() + "--json /nowhere/rows"), 2);
  EXPECT_NE(errors_.find("--json: cannot write /nowhere/rows: No such file or directory"), std::string::npos);
  EXPECT_EQ(compare(parley() + "--compare /nowhere/base"), 2);
  EXPECT_EQ(compare(parley() + "--svg /proc/charts"), 2);
  std::ofstream(path("empty")) << "";
  EXPECT_EQ(compare(parley() + "--compare " + path("empty")), 2);
  EXPECT_EQ(compare("--parley /nowhere/program"), 2);
  EXPECT_EQ(compare("--peer x=/nowhere/program"), 2);
  EXPECT_EQ(launches_of("parley"), 0U);
}

TEST_F(ParleyBenchCompare, TellsHowToUseIt) {
  testing::internal::CaptureStdout();
  EXPECT_EQ(run_bench("compare --help"), 0);
  EXPECT_EQ(run_bench("--help"), 0);
  const std::string pages = testing::internal::GetCapturedStdout();
  EXPECT_EQ(pages.find("NAME\n    parley-bench compare - "), 0U);
  EXPECT_NE(pages.find("NAME\n    parley-bench - "), std::string::npos);
  testing::internal::CaptureStdout();
  EXPECT_EQ(run_bench("--version"), 0);
  EXPECT_EQ(testing::internal::GetCapturedStdout().find("parley-bench "), 0U);
}

}  // namespace
