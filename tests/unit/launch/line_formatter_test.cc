#include "api/launch/line_formatter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

namespace parley::launch {
namespace {

std::string format(const std::string& prefix, std::initializer_list<std::string_view> pieces) {
  LineFormatter formatter(prefix);
  std::string out;
  for (const std::string_view piece : pieces) formatter.feed(piece, out);
  formatter.finish(out);
  return out;
}

TEST(LineFormatter, PutsThePrefixBeforeEveryLine) {
  EXPECT_EQ(format("[3] ", {"one\ntwo\n\nthree\n"}), "[3] one\n[3] two\n[3] \n[3] three\n");
}

TEST(LineFormatter, HoldsALineBackUntilItIsWhole) {
  LineFormatter formatter("> ");
  std::string out;
  formatter.feed("ab", out);
  EXPECT_EQ(out, "");
  formatter.feed("c", out);
  EXPECT_EQ(out, "");
  formatter.feed("\nd", out);
  EXPECT_EQ(out, "> abc\n");
}

TEST(LineFormatter, EndsAnUnfinishedLastLine) {
  EXPECT_EQ(format("[0] ", {"a\nlast"}), "[0] a\n[0] last\n");
  EXPECT_EQ(format("[0] ", {""}), "");
}

TEST(LineFormatter, AddsNothingWithoutAPrefix) {
  const std::string binary("\0\1\n\nend", 7);
  EXPECT_EQ(format("", {binary}), binary);
  const std::string long_line(3 * LineFormatter::longest_line_bytes + 5, 'x');
  EXPECT_EQ(format("", {long_line}), long_line);
}

TEST(LineFormatter, CutsALineThatIsTooLongIntoLines) {
  constexpr std::size_t limit = LineFormatter::longest_line_bytes;
  std::string in(2 * limit + 3, 'x');
  in += "\nshort\n";
  const std::string piece = "[1] " + std::string(limit, 'x') + "\n";
  EXPECT_EQ(format("[1] ", {in}), piece + piece + "[1] xxx\n[1] short\n");
}

TEST(LineFormatter, ALineOfExactlyTheLimitWithItsNewlineIsWhole) {
  std::string line(LineFormatter::longest_line_bytes - 1, 'y');
  line += '\n';
  EXPECT_EQ(format("> ", {line, "z\n"}), "> " + line + "> z\n");
}

// However the stream is cut, the lines are the same.
TEST(LineFormatter, DoesNotDependOnHowTheStreamIsCut) {
  const unsigned seed = 20240611;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  std::string stream;
  for (int i = 0; i < 200; ++i) stream += std::string(random() % 900, static_cast<char>('a' + i % 26)) + '\n';
  const std::string whole = format("[7] ", {stream});
  for (int round = 0; round < 20; ++round) {
    LineFormatter formatter("[7] ");
    std::string out;
    for (std::string_view left = stream; !left.empty();) {
      const std::size_t taken = std::min<std::size_t>(left.size(), 1 + random() % 700);
      formatter.feed(left.substr(0, taken), out);
      left.remove_prefix(taken);
    }
    formatter.finish(out);
    ASSERT_EQ(out, whole);
  }
}

}  // namespace
}  // namespace parley::launch
