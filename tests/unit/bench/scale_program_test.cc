// Runs parley-bench scale with processes: what ranks have for themselves grows no faster than is promised.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tests/unit/bench/program.h"

namespace parley::bench {
namespace {

using ::testing::HasSubstr;

// By number of ranks.
std::map<int, double> values_of(const RowFile& file, const std::string& what) {
  std::map<int, double> values;
  for (const auto& row : file.rows()) {
    if (row.value("what", "") != what) continue;
    values[row["ranks"].get<int>()] = row["value"].get<double>();
    if (row["promised"].is_null()) continue;
    EXPECT_LE(row["value"].get<double>(), row["promised"].get<double>()) << row;
  }
  return values;
}

TEST(ParleyBenchScale, MemoryAndDescriptorsAreWithinThePromise) {
  const RowFile file;
  ASSERT_EQ(run_bench("scale --what memory --ranks 2,4,8,16,32 --rounds 1 --quiet --json " + file.path()), 0);
  for (const char* what : {"memory", "linked_memory", "linked_descriptors"})
    EXPECT_EQ(values_of(file, what).size(), 5U) << what;
  // Linked to nobody, a rank has the same however many others there are.
  const auto descriptors = values_of(file, "descriptors");
  ASSERT_EQ(descriptors.size(), 5U);
  EXPECT_EQ(descriptors.at(2), descriptors.at(32));
}

TEST(ParleyBenchScale, MeasuresEachQuantityAndDrawsThem) {
  const RowFile file;
  ::testing::internal::CaptureStdout();
  const int code = run_bench("scale --ranks 2,3 --transport tcp --rounds 1 --quiet --json " + file.path());
  const std::string text = ::testing::internal::GetCapturedStdout();
  ASSERT_EQ(code, 0) << text;
  for (const char* what :
       {"start", "new_group", "store", "memory", "rate", "barrier", "all_reduce", "poll_one", "poll_all"}) {
    EXPECT_THAT(text, HasSubstr(std::string("\n") + what)) << what;
    EXPECT_EQ(values_of(file, what).size(), 2U) << what;
  }
  EXPECT_THAT(text, HasSubstr("3 ranks\n"));
}

TEST(ParleyBenchScale, LeavesWithTwoAfterAMistake) {
  EXPECT_EQ(run_bench("scale --ranks 1"), 2);
  EXPECT_EQ(run_bench("scale", "RANK=0 WORLD_SIZE=2"), 2);
  EXPECT_EQ(run_bench("scale --help > /dev/null"), 0);
}

}  // namespace
}  // namespace parley::bench
