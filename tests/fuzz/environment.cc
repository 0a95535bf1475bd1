// What people write in variables and in the method of init(): it is understood, or it is a UsageError in
// words.
#include <parley/error.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "rendezvous/discovery.h"
#include "rendezvous/slurm.h"
#include "tests/fuzz/expect.h"
#include "tests/fuzz/input.h"
#include "transport/base/env.h"
#include "transport/base/log_filter.h"
#include "transport/socket/interface_choice.h"
#include "transport/socket/port_range.h"

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

// A process that was told the variables of the map, and no others.
using Variables = std::map<std::string, std::string>;
rendezvous::Surroundings pretend(const Variables& variables) {
  return {[&variables](const char* name) -> std::optional<std::string> {
            const auto found = variables.find(name);
            if (found == variables.end() || found->second.empty()) return std::nullopt;
            return found->second;
          },
          [](int fd) -> std::optional<std::string> {
            if (fd % 2 == 0) return std::nullopt;
            return "maker";
          }};
}

void methods(Input& input) {
  const int rank = static_cast<int>(input.choice(4)) - 1;
  const int world_size = static_cast<int>(input.choice(4)) - 1;
  const std::string method = text_of(input.rest());
  const Variables none;
  for (const char* scheme : {"", "tcp://", "file://"})
    expect_words([&] { check(rendezvous::discover(scheme + method, rank, world_size, pretend(none))); });
}

// Lines that each begin with the number of a variable.
void variables(Input& input) {
  static constexpr const char* names[] = {"MASTER_ADDR",
                                          "MASTER_PORT",
                                          "RANK",
                                          "WORLD_SIZE",
                                          "LOCAL_RANK",
                                          "LOCAL_WORLD_SIZE",
                                          "PARLEY_RANK",
                                          "PARLEY_WORLD_SIZE",
                                          "PARLEY_LOCAL_RANK",
                                          "PARLEY_STORE",
                                          "TORCHELASTIC_RUN_ID",
                                          "TORCHELASTIC_RESTART_COUNT",
                                          "OMPI_COMM_WORLD_RANK",
                                          "OMPI_COMM_WORLD_SIZE",
                                          "OMPI_COMM_WORLD_LOCAL_RANK",
                                          "PMIX_NAMESPACE",
                                          "PMI_RANK",
                                          "PMI_SIZE",
                                          "PMI_FD",
                                          "PMI_PORT",
                                          "MPI_LOCALRANKID",
                                          "SLURM_PROCID",
                                          "SLURM_NTASKS",
                                          "SLURM_LOCALID",
                                          "SLURM_JOB_ID",
                                          "SLURM_STEP_ID",
                                          "SLURM_STEP_NODELIST",
                                          "SLURM_STEP_NUM_TASKS",
                                          "SLURM_RESTART_COUNT",
                                          "MPI_LOCALNRANKS"};
  const int rank = static_cast<int>(input.choice(4)) - 1;
  const int world_size = static_cast<int>(input.choice(4)) - 1;
  Variables told;
  while (!input.empty()) {
    const char* name = input.one_of(names);
    told[name] = line(input);
  }
  expect_words([&] { check(rendezvous::discover("env://", rank, world_size, pretend(told))); });
}

void interfaces(Input& input) {
  const std::string text = text_of(input.rest());
  const std::vector<socket::InterfaceAddress> host = {
      {.interface = "lo", .address = "127.0.0.1", .up = true, .loopback = true},
      {.interface = "eth0", .address = "10.0.0.1", .up = true, .loopback = false},
      {.interface = "eth1", .address = "fe80::1%eth1", .up = true, .loopback = false},
      {.interface = "docker0", .address = "", .up = false, .loopback = false}};
  expect_words([&] {
    const auto chosen =
        choose_address(socket::InterfaceFilter::parse(text, "PARLEY_SOCKET_IFNAME"), host, "10.0.0.1");
    FUZZ_EXPECT(!chosen || std::any_of(host.begin(), host.end(),
                                       [&](const auto& one) { return one.up && one.address == *chosen; }));
  });
  if (const auto range = socket::parse_port_range(text)) {
    FUZZ_EXPECT(range->first >= 1 && range->first <= range->last);
    const auto ports = ports_from(*range, text.size());
    FUZZ_EXPECT(ports.size() == range->count());
  }
  const auto node = rendezvous::first_node(text);
  FUZZ_EXPECT(!node || (!node->empty() && node->size() <= text.size()));
}

}  // namespace
}  // namespace parley::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace parley::fuzz;
  static constexpr void (*parts[])(Input&) = {durations, subsystems, names, methods, variables, interfaces};
  Input input(data, size);
  input.one_of(parts)(input);
  return 0;
}
