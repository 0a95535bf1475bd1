#include "api/schedule/tuning.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "api/schedule/selection.h"

namespace parley::schedule {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr const char* text = R"(parley-tuning 1  # a remark
# by hand

all_reduce 4 shm own 8192 flat
all_reduce 4 shm own 1024 recursive_doubling  # before the one above
all_reduce 4 shm own any ring
all_reduce 4 tcp own 65536 rabenseifner
all_reduce 4 shm shared any linear
barrier 2 tcp own any dissemination
)";

Tuning parsed(std::string_view from) {
  auto result = parse_tuning(from);
  EXPECT_TRUE(result.ok()) << result.failure().message;
  return result.ok() ? result.value() : Tuning();
}

TuningCase case_of(std::uint64_t bytes, Link link = Link::shared_memory, bool shares_cores = false) {
  return {Operation::all_reduce, 4, link, shares_cores, bytes};
}

TEST(Tuning, DecidesByTheFirstSizeThatIsLargeEnough) {
  const Tuning tuning = parsed(text);
  EXPECT_EQ(tuning.rows().size(), 6U);
  EXPECT_EQ(tuning.find(case_of(0)), Algorithm::recursive_doubling);
  EXPECT_EQ(tuning.find(case_of(1024)), Algorithm::recursive_doubling);
  EXPECT_EQ(tuning.find(case_of(1025)), Algorithm::flat);
  EXPECT_EQ(tuning.find(case_of(8193)), Algorithm::ring);
  EXPECT_EQ(tuning.find(case_of(any_size)), Algorithm::ring);
}

TEST(Tuning, SaysNothingOfWhatWasNotMeasured) {
  const Tuning tuning = parsed(text);
  EXPECT_EQ(tuning.find(case_of(65536, Link::tcp)), Algorithm::rabenseifner);
  EXPECT_EQ(tuning.find(case_of(65537, Link::tcp)), std::nullopt);
  EXPECT_EQ(tuning.find(case_of(8, Link::shared_memory, true)), Algorithm::linear);
  EXPECT_EQ(tuning.find(case_of(8, Link::tcp, true)), std::nullopt);
  EXPECT_EQ(tuning.find({Operation::all_reduce, 3, Link::shared_memory, false, 8}), std::nullopt);
  EXPECT_EQ(tuning.find({Operation::broadcast, 4, Link::shared_memory, false, 8}), std::nullopt);
  EXPECT_EQ(Tuning().find(case_of(8)), std::nullopt);
}

TEST(Tuning, ComesBackFromItsTextInOrder) {
  const Tuning tuning = parsed(text);
  const std::string written = format_tuning(tuning, "two lines\n\nand an empty one between");
  EXPECT_THAT(written, HasSubstr("parley-tuning 1\n# two lines\n#\n# and an empty one between\n"));
  EXPECT_THAT(written, HasSubstr("all_reduce 4 shm own 1024 recursive_doubling\n"
                                 "all_reduce 4 shm own 8192 flat\n"
                                 "all_reduce 4 shm own any ring\n"));
  const Tuning back = parsed(written);
  EXPECT_TRUE(std::equal(back.rows().begin(), back.rows().end(), tuning.rows().begin(), tuning.rows().end()));
  EXPECT_EQ(back.hash(), tuning.hash());
}

TEST(Tuning, HasAHashOfItsRowsAlone) {
  const auto hash = [](const std::string& rows) { return parsed("parley-tuning 1\n" + rows).hash(); };
  const std::string one = "scan 2 shm own 8 chain\n", other = "scan 2 shm own any linear\n";
  EXPECT_EQ(hash(""), 0U);
  EXPECT_EQ(hash("# remarks alone\n\r\n"), 0U);
  EXPECT_NE(hash(one), 0U);
  EXPECT_EQ(hash(one + other), hash(other + "# the same\r\n" + one));
  EXPECT_NE(hash(one), hash(other));
  EXPECT_NE(hash(one), hash("scan 2 shm own 8 linear\n"));
}

std::string refusal_of_file(const std::string& from) {
  const auto result = parse_tuning(from);
  return result.ok() ? "" : result.failure().message;
}

std::string refusal_of_row(const std::string& row) {
  return refusal_of_file("parley-tuning 1\n\n" + row);
}

TEST(Tuning, AFailureNamesTheLineWhatIsWrongAndWhatExists) {
  const std::string head = R"(line 1: a tuning file begins with "parley-tuning 1")";
  for (const char* other : {"", "all_reduce 4 shm own any ring", "parley-tuning 2\n", "parley-tuning 1 1\n"})
    EXPECT_EQ(refusal_of_file(other), head) << other;
  EXPECT_THAT(refusal_of_row("allreduce 4 shm own any ring"),
              AllOf(HasSubstr("line 3: no operation is called allreduce"), HasSubstr("exscan")));
  EXPECT_EQ(refusal_of_row("all_reduce none shm own any ring"), R"(line 3: "none" is no number of ranks)");
  EXPECT_EQ(refusal_of_row("all_reduce 0 shm own any ring"), R"(line 3: "0" is no number of ranks)");
  EXPECT_EQ(refusal_of_row("all_reduce 4 ib own any ring"),
            R"(line 3: "ib" is no link; there are shm and tcp)");
  EXPECT_THAT(refusal_of_row("all_reduce 4 shm mine any ring"), HasSubstr(R"("mine" says nothing of cores)"));
  EXPECT_THAT(refusal_of_row("all_reduce 4 shm own 8K ring"), HasSubstr(R"("8K" is no size)"));
  EXPECT_THAT(
      refusal_of_row("all_reduce 4 shm own any dissemination"),
      AllOf(HasSubstr("all_reduce has no algorithm called dissemination"), HasSubstr("rabenseifner")));
  EXPECT_THAT(refusal_of_row("all_reduce 4 shm own any"), HasSubstr("a row has 6 words, not 5"));
  EXPECT_THAT(refusal_of_row("all_reduce 4 shm own any ring ring"), HasSubstr("a row has 6 words, not 7"));
  EXPECT_EQ(refusal_of_row("scan 2 shm own any chain\nscan 2 shm own any linear"),
            "line 4: line 3 is for the same: scan 2 shm own any chain");
}

// What select() makes of it.

Overrides overrides_of(std::string_view rows) {
  Overrides overrides;
  overrides.set_tuning(std::make_shared<const Tuning>(parsed("parley-tuning 1\n" + std::string(rows))));
  return overrides;
}

Request request(std::uint64_t bytes) {
  return {.operation = Operation::all_reduce, .shape = {.size = 4, .count = bytes / 4}};
}

TEST(Selection, TakesWhatWasMeasured) {
  const Overrides overrides = overrides_of("all_reduce 4 shm own 64 ring\n");
  const Request small = request(64);
  const Plan plan = select(small, overrides);
  EXPECT_EQ(plan.chosen.algorithm, Algorithm::ring);
  EXPECT_TRUE(plan.measured);
  EXPECT_THAT(explain(small, plan), HasSubstr(", as was measured (PARLEY_TUNING); else "));
  EXPECT_FALSE(select(request(68), overrides).measured);
}

TEST(Selection, TakesWhatIsAskedForBeforeWhatWasMeasured) {
  Overrides overrides = overrides_of("all_reduce 4 shm own any ring\n");
  overrides.set(Operation::all_reduce, Algorithm::linear);
  EXPECT_EQ(select(request(8), overrides).chosen.algorithm, Algorithm::linear);
  // What is asked for cannot do this; what was measured can.
  overrides.set(Operation::all_reduce, Algorithm::slices);
  const Plan plan = select(request(8), overrides);
  EXPECT_EQ(plan.chosen.algorithm, Algorithm::ring);
  EXPECT_EQ(plan.refused, Algorithm::slices);
}

TEST(Selection, DoesNotTakeWhatWasMeasuredForSomethingElse) {
  const Overrides overrides = overrides_of("all_reduce 4 shm own any ring\n");
  Request one = request(8);
  one.commutative = false;
  Plan plan = select(one, overrides);
  EXPECT_NE(plan.chosen.algorithm, Algorithm::ring);
  EXPECT_EQ(plan.unfit, Algorithm::ring);
  EXPECT_THAT(explain(one, plan),
              HasSubstr("ring, which the file of PARLEY_TUNING gives, cannot: it does not keep rank order"));

  one = request(8);
  const Overrides by_memory = overrides_of("all_reduce 4 shm own any flat\n");
  EXPECT_THAT(explain(one, select(one, by_memory)),
              HasSubstr("cannot: the ranks share no memory, or not before some calls"));
  one.shape.stage_count = 1024;
  EXPECT_EQ(select(one, by_memory).chosen.algorithm, Algorithm::flat);

  const std::vector<std::uint32_t> two_hosts{0, 0, 1, 1};
  one = request(8);
  one.shape.hosts = two_hosts;
  EXPECT_FALSE(select(one, overrides).measured);
  one = request(8);
  one.surroundings.ranks_per_core = 1.5;
  EXPECT_FALSE(select(one, overrides).measured);

  const std::vector<std::uint64_t> counts{1, 2, 3, 4};
  one = request(8);
  one.operation = Operation::all_gather;
  one.shape.counts = counts;
  EXPECT_FALSE(select(one, overrides_of("all_gather 4 shm own any bruck\n")).measured);
}

}  // namespace
}  // namespace parley::schedule
