#include "bench/compare/machine.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <chrono>
#include <ctime>
#include <fstream>
#include <string_view>

#include "bench/compare/child.h"
#include "bench/cores.h"
#include "bench/limits/floor.h"

namespace parley::bench::compare {
namespace {

constexpr std::string_view sanitizers = PARLEY_BENCH_SANITIZERS;

// The value of the first line "name : value".
std::string value_in(const char* path, const std::string& name) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(':');
    if (!line.starts_with(name) || colon == std::string::npos) continue;
    const std::size_t begin = line.find_first_not_of(" \t", colon + 1);
    return begin == std::string::npos ? "" : line.substr(begin);
  }
  return {};
}

std::string first_line_of(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::string core_list(const std::vector<int>& cores) {
  std::string list;
  for (const int core : cores) list += (list.empty() ? "" : ", ") + std::to_string(core);
  return fmt::format("{} ({})", cores.size(), list);
}

std::string memory_size() {
  const double pages = static_cast<double>(::sysconf(_SC_PHYS_PAGES));
  return fmt::format("{:.0f} GiB", pages * static_cast<double>(::sysconf(_SC_PAGESIZE)) / (1 << 30));
}

// "always [madvise] never": the one in brackets.
std::string chosen_of(const std::string& path) {
  const std::string line = first_line_of(path);
  const std::size_t begin = line.find('[');
  const std::size_t end = line.find(']');
  if (begin == std::string::npos || end == std::string::npos) return line;
  return line.substr(begin + 1, end - begin - 1);
}

std::string caches() {
  std::string text;
  for (int index = 0; index < 5; ++index) {
    const std::string folder = fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/", index);
    const std::string size = first_line_of(folder + "size");
    if (size.empty()) continue;
    const std::string type = first_line_of(folder + "type");
    text += fmt::format("{}L{}{} {}", text.empty() ? "" : ", ", first_line_of(folder + "level"),
                        type == "Data"          ? "d"
                        : type == "Instruction" ? "i"
                                                : "",
                        size);
  }
  return text;
}

}  // namespace

Facts describe_machine() {
  utsname system{};
  ::uname(&system);
  Facts facts;
  const auto add = [&](const char* name, std::string value) {
    if (!value.empty()) facts.emplace_back(name, std::move(value));
  };
  add("Processor", value_in("/proc/cpuinfo", "model name"));
  add("Usable cores", core_list(usable_cores()));
  add("Caches of core 0", caches());
  add("Memory", memory_size());
  add("Governor", first_line_of("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"));
  add("Huge pages", chosen_of("/sys/kernel/mm/transparent_hugepage/enabled"));
  add("Kernel", fmt::format("{} {} {}", system.sysname, system.release, system.machine));
  add("Compiler", PARLEY_BENCH_COMPILER);
  add("Build", PARLEY_BENCH_BUILD_TYPE);
  add("Sanitizers", std::string(sanitizers));
  add("Parley", PARLEY_VERSION);
  return facts;
}

Facts describe_versions(const std::vector<Contender>& contenders) {
  Facts facts;
  for (const Contender& contender : contenders) {
    const ChildEnd end = run_child({contender.program, "--version"}, std::chrono::seconds(5));
    if (end.how != ChildEnd::How::exited || end.code != 0) continue;
    const std::string words = last_words(end.output);
    if (!words.empty()) facts.emplace_back(contender.name, words);
  }
  return facts;
}

std::optional<double> measure_memcpy() {
  if (!sanitizers.empty()) return std::nullopt;
  return measure_memcpy_gb_per_s();
}

std::string current_date() {
  return fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(std::time(nullptr)));
}

}  // namespace parley::bench::compare
