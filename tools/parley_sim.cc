// parley-sim: what collectives cost on a network that is not there.

#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <system_error>

#include "tools/sim/chart.h"
#include "tools/sim/json.h"
#include "tools/sim/manual.h"
#include "tools/sim/page.h"
#include "tools/sim/quantity.h"
#include "tools/sim/study.h"
#include "tools/sim/table.h"

namespace {

constexpr int exit_problem = 1;
constexpr int exit_usage = 2;

void write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::trunc);
  if (!(file << text << std::flush)) throw std::runtime_error(path.string() + ": cannot be written");
}

void write_charts(const std::filesystem::path& folder, const parley::sim::Study& study) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw std::runtime_error(folder.string() + ": cannot be made a folder: " + error.message());
  for (const auto& contests : parley::sim::by_ranks(study)) {
    const auto& first = contests.front();
    const std::string name = std::string(parley::schedule::name(first.call.operation)) + "-" +
                             std::to_string(first.network.ranks) + ".svg";
    write(folder / name, parley::sim::standalone_chart_of(contests));
  }
}

int run(int argc, char** argv) {
  const parley::sim::Options options = parley::sim::parse_options(argc, argv);
  if (options.wants_help) {
    std::cout << parley::sim::manual();
    return 0;
  }
  if (options.wants_version) {
    std::cout << "parley-sim " PARLEY_VERSION "\n";
    return 0;
  }
  const parley::sim::Study study = parley::sim::conduct(options);
  if (!options.is_quiet) std::cout << parley::sim::tables_of(study);
  if (!options.json.empty()) write(options.json, parley::sim::json_of(study));
  if (!options.html.empty()) write(options.html, parley::sim::page_of(study));
  if (!options.svg.empty()) write_charts(options.svg, study);
  return 0;
}

}  // namespace

int main(int argc, char** argv) try { return run(argc, argv); } catch (const parley::sim::UsageError& error) {
  std::fprintf(stderr, "parley-sim: %s (parley-sim --help)\n", error.what());
  return exit_usage;
} catch (const std::exception& error) {
  std::fprintf(stderr, "parley-sim: %s\n", error.what());
  return exit_problem;
}
