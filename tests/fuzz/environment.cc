// What people write in variables and in the method of init(): it is understood, or it is a UsageError in
// words.
#include <parley/error.h>

#include <cstdlib>
#include <map>
#include <string>

#include "rendezvous/discovery.h"
#include "tests/fuzz/expect.h"
#include "tests/fuzz/input.h"
#include "transport/base/env.h"
#include "transport/base/log_filter.h"

namespace parley::fuzz {
namespace {

std::string text_of(std::span<const std::byte> bytes) {
  std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return text.substr(0, text.find('\0'));
}

// One line of the input, as it may stand in a variable.
std::string line(Input& input) {
  std::string text;
  while (!input.empty()) {
    const auto c = static_cast<char>(input.byte());
    if (c == '\n' || c == '\0') break;
    text += c;
  }
  return text;
}

// Not by setenv(3), which keeps every value for ever.
void set_variable(const char* name, const std::string& value) {
  static std::map<std::string, std::string> entries;
  std::string& entry = entries[name];
  unsetenv(name);
  entry = std::string(name) + "=" + value;
  putenv(entry.data());
}

// Any other exception ends the run.
template <typename Function>
void expect_words(Function function) {
  try {
    function();
  } catch (const UsageError& error) {
    FUZZ_EXPECT(std::string_view(error.what()).size() > 10);
  }
}

void check(const rendezvous::Place& place) {
  FUZZ_EXPECT(place.world_size >= 1 && place.rank >= 0 && place.rank < place.world_size);
  FUZZ_EXPECT(place.local_rank >= -1 && place.local_rank < place.world_size);
  FUZZ_EXPECT(!place.serves_store || place.rank == 0);
  FUZZ_EXPECT(!place.source.empty());
}

void durations(Input& input) {
  const std::string text = text_of(input.rest());
  const auto duration = base::parse_duration(text);
  FUZZ_EXPECT(!duration || duration->count() >= 0);
  set_variable("PARLEY_TIMEOUT", text);
  expect_words([&] {
    const auto same = base::env_duration("PARLEY_TIMEOUT");
    FUZZ_EXPECT(text.empty() || (duration.has_value() && same == duration));
  });
  expect_words([] { base::env_integer("PARLEY_TIMEOUT"); });
  unsetenv("PARLEY_TIMEOUT");
}

void subsystems(Input& input) {
  const base::SubsystemFilter filter(text_of(input.rest()));
  for (const auto name : base::known_subsystems()) {
    // A level that is less severe is never admitted where a more severe one is not.
    bool admitted = true;
    for (const auto level : {LogLevel::error, LogLevel::warn, LogLevel::info, LogLevel::debug}) {
      const bool now = filter.admits(level, name);
      FUZZ_EXPECT(admitted || !now);
      admitted = now;
    }
  }
  for (const auto& name : filter.unknown()) FUZZ_EXPECT(!name.empty() && name.find(',') == std::string::npos);
}

void names(Input& input) {
  const std::string name = text_of(input.take(64));
  const auto nearest = base::nearest_variable(name);
  FUZZ_EXPECT(nearest.empty() || nearest.starts_with("PARLEY_"));
}

constexpr const char* place_variables[] = {"MASTER_ADDR", "MASTER_PORT", "RANK", "WORLD_SIZE", "LOCAL_RANK"};

void methods(Input& input) {
  for (const char* name : place_variables) unsetenv(name);
  const int rank = static_cast<int>(input.choice(4)) - 1;
  const int world_size = static_cast<int>(input.choice(4)) - 1;
  const std::string method = text_of(input.rest());
  expect_words([&] { check(rendezvous::discover(method, rank, world_size)); });
  expect_words([&] { check(rendezvous::discover("tcp://" + method, rank, world_size)); });
}

// One line per variable.
void variables(Input& input) {
  const int rank = static_cast<int>(input.choice(4)) - 1;
  const int world_size = static_cast<int>(input.choice(4)) - 1;
  for (const char* name : place_variables) {
    const std::string value = line(input);
    if (value.empty())
      unsetenv(name);
    else
      set_variable(name, value);
  }
  expect_words([&] { check(rendezvous::discover("env://", rank, world_size)); });
}

}  // namespace
}  // namespace parley::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace parley::fuzz;
  static constexpr void (*parts[])(Input&) = {durations, subsystems, names, methods, variables};
  Input input(data, size);
  input.one_of(parts)(input);
  return 0;
}
