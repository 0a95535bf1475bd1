#include "transport/base/env.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <parley/error.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "transport/base/log.h"

namespace parley::base {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

constexpr const char* variable = "PARLEY_TIMEOUT";

// Sets a variable for one test.
class SetVariable {
 public:
  SetVariable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~SetVariable() { unsetenv(name_); }
  SetVariable(const SetVariable&) = delete;
  SetVariable& operator=(const SetVariable&) = delete;

 private:
  const char* name_;
};

template <typename Fn>
std::string message_of(Fn fn) {
  try {
    fn();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Env, DurationsHaveUnits) {
  EXPECT_EQ(parse_duration("90s"), 90s);
  EXPECT_EQ(parse_duration("30m"), 30min);
  EXPECT_EQ(parse_duration("2h"), 2h);
  EXPECT_EQ(parse_duration("250ms"), 250ms);
  EXPECT_EQ(parse_duration("17"), 17s);
  EXPECT_EQ(parse_duration("0"), 0s);
  EXPECT_EQ(parse_duration("none"), nanoseconds::max());
}

TEST(Env, GarbageIsNoDuration) {
  for (const char* text : {"",   " ",  "s",   "ms",   "-1",   "-1s",   "+1s",   "1.5s", "1 s", " 1s", "1s ",
                           "1d", "1S", "1e3", "0x10", "None", "none ", "1m30s", "nan",  "inf", "1us"})
    EXPECT_FALSE(parse_duration(text).has_value()) << '"' << text << '"';
  EXPECT_FALSE(parse_duration(std::string_view("1\0s", 3)).has_value());
}

TEST(Env, DurationsBeyondTheClockAreRefused) {
  EXPECT_EQ(parse_duration("9223372036s"), nanoseconds(9223372036000000000));
  EXPECT_FALSE(parse_duration("9223372037s").has_value());
  EXPECT_EQ(parse_duration("9223372036854ms"), nanoseconds(9223372036854000000));
  EXPECT_FALSE(parse_duration("9223372036855ms").has_value());
  EXPECT_FALSE(parse_duration("2562048h").has_value());
  EXPECT_FALSE(parse_duration("99999999999999999999").has_value());
}

TEST(Env, AnEmptyVariableIsUnset) {
  EXPECT_EQ(env_string(variable), std::nullopt);
  const SetVariable set(variable, "");
  EXPECT_EQ(env_string(variable), std::nullopt);
  EXPECT_EQ(env_integer(variable), std::nullopt);
  EXPECT_EQ(env_duration(variable), std::nullopt);
}

TEST(Env, ReadsADuration) {
  const SetVariable set(variable, "90s");
  EXPECT_EQ(env_string(variable), "90s");
  EXPECT_EQ(env_duration(variable), 90s);
}

TEST(Env, ABadDurationNamesTheVariable) {
  const SetVariable set(variable, "soon");
  EXPECT_EQ(message_of([] { (void)env_duration(variable); }),
            "PARLEY_TIMEOUT=soon is not a duration: write 90s, 30m, 2h, 250ms, plain seconds or none");
}

TEST(Env, ReadsIntegers) {
  for (const auto& [text, value] : std::vector<std::pair<const char*, std::int64_t>>{
           {"0", 0}, {"-5", -5}, {"9223372036854775807", INT64_MAX}, {"-9223372036854775808", INT64_MIN}}) {
    const SetVariable set("PARLEY_EAGER_LIMIT", text);
    EXPECT_EQ(env_integer("PARLEY_EAGER_LIMIT"), value);
  }
}

TEST(Env, ABadIntegerNamesTheVariable) {
  for (const char* text : {"x", "1x", " 1", "1 ", "0x1", "1.0", "+1", "9223372036854775808"}) {
    const SetVariable set("PARLEY_EAGER_LIMIT", text);
    EXPECT_EQ(message_of([] { (void)env_integer("PARLEY_EAGER_LIMIT"); }),
              "PARLEY_EAGER_LIMIT=" + std::string(text) + " is not an integer of 64 bits");
  }
}

TEST(Env, KnownVariablesAreDistinctAndExplained) {
  std::set<std::string_view> names;
  for (const auto& known : known_variables()) {
    EXPECT_TRUE(known.name.starts_with("PARLEY_")) << known.name;
    EXPECT_FALSE(known.meaning.empty()) << known.name;
    EXPECT_TRUE(names.insert(known.name).second) << known.name;
  }
  for (const char* name : {"PARLEY_TIMEOUT", "PARLEY_INIT_TIMEOUT", "PARLEY_DEBUG", "PARLEY_SECRET"})
    EXPECT_EQ(names.count(name), 1u) << name;
}

TEST(Env, TheReadmeOfTheApiListsTheSameVariables) {
  std::ifstream readme(PARLEY_SOURCE_DIR "/api/README.md");
  ASSERT_TRUE(readme.is_open());
  std::vector<std::string> listed;
  constexpr std::string_view row = "| `";
  for (std::string line; std::getline(readme, line);)
    if (line.starts_with("| `PARLEY_"))
      listed.push_back(line.substr(row.size(), line.find('`', row.size()) - row.size()));
  std::vector<std::string> known;
  for (const auto& entry : known_variables()) known.emplace_back(entry.name);
  EXPECT_EQ(listed, known);
}

TEST(Env, FindsTheNearestName) {
  EXPECT_EQ(nearest_variable("PARLEY_TIMOUT"), "PARLEY_TIMEOUT");
  EXPECT_EQ(nearest_variable("PARLEY_TIMEOUTS"), "PARLEY_TIMEOUT");
  EXPECT_EQ(nearest_variable("PARLEY_INITTIMEOUT"), "PARLEY_INIT_TIMEOUT");
  EXPECT_EQ(nearest_variable("PARLEY_DEBUG_SUBSYSTEM"), "PARLEY_DEBUG_SUBSYS");
  EXPECT_EQ(nearest_variable("PARLEY_DEBG"), "PARLEY_DEBUG");
  EXPECT_EQ(nearest_variable("PARLEY_SOMETHING_ELSE"), "");
  EXPECT_EQ(nearest_variable("PARLEY_"), "");
  for (const auto& known : known_variables()) EXPECT_EQ(nearest_variable(known.name), known.name);
}

// Runs in a process of its own, for a process is warned once; shows on stderr what was logged.
[[noreturn]] void warn_twice() {
  for (char** entry = environ; *entry != nullptr;) {
    const std::string name(*entry, std::string_view(*entry).find('='));
    if (name.starts_with("PARLEY")) {
      unsetenv(name.c_str());  // moves the rest up
    } else {
      ++entry;
    }
  }
  setenv("PARLEY_TIMOUT", "1s", 1);
  setenv("PARLEY_ZZZZZZZZ", "1", 1);
  setenv("PARLEY_TIMEOUT", "1s", 1);
  setenv("PARLEYTIMEOUT", "1s", 1);
  set_log_rank(0);
  warn_about_unknown_variables();
  warn_about_unknown_variables();
  std::exit(0);
}

TEST(EnvDeathTest, WarnsOnceAboutUnknownVariables) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(warn_twice(), testing::ExitedWithCode(0),
              testing::AllOf(
                  testing::EndsWith("parley[rank 0] warn env: unknown variable PARLEY_TIMOUT: did you mean "
                                    "PARLEY_TIMEOUT?\n"
                                    "parley[rank 0] warn env: unknown variable PARLEY_ZZZZZZZZ\n"),
                  testing::Not(testing::ContainsRegex("TIMOUT(.|\n)*TIMOUT"))));
}

}  // namespace
}  // namespace parley::base
