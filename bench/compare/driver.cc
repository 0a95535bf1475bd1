#include "bench/compare/driver.h"

#include <fmt/format.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <span>
#include <system_error>
#include <utility>

#include "bench/compare/child.h"
#include "bench/compare/machine.h"

namespace parley::bench::compare {
namespace {

constexpr int exit_unsupported = 2;
constexpr int most_failures = 2;
// A launch that takes five times what was planned, and then some, hangs.
constexpr double deadline_factor = 5;
constexpr double deadline_seconds = 30;

// A folder that goes away at the end.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "parley-bench-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr)
      throw std::system_error(errno, std::generic_category(), "a folder for rows: " + pattern);
    path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] std::string file(const char* name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

std::string contents_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Why a launch gave no rows.
std::string reason_of(const ChildEnd& end) {
  const std::string words = last_words(end.said);
  const std::string said = words.empty() ? "it said nothing" : words;
  switch (end.how) {
    case ChildEnd::How::exited: return fmt::format("exit code {}: {}", end.code, said);
    case ChildEnd::How::killed:
      return fmt::format("ended by signal {} ({}): {}", end.code, ::strsignal(end.code), said);
    case ChildEnd::How::too_late: return fmt::format("not done after {:.0f} s: {}", end.seconds, said);
    case ChildEnd::How::interrupted:
    case ChildEnd::How::not_started: break;
  }
  return words;
}

// Why a contender that was asked for too much refused: its words, without its name and the hint where to read
// more.
std::string refusal_in(const ChildEnd& end) {
  std::string said = end.said;
  const std::size_t hint = said.rfind("\nRun ");
  if (hint != std::string::npos) said.resize(hint);
  const std::string words = last_words(said);
  const std::size_t colon = words.find(": ");
  const bool is_named = colon != std::string::npos && words.find(' ') > colon;
  return is_named ? words.substr(colon + 2) : words;
}

class Harvester {
 public:
  Harvester(const Workload& workload, const Budget& budget, Progress& progress)
      : workload_(workload), planned_(budget), budget_(budget), progress_(progress) {}

  Harvest run() {
    const SignalWatch signals;
    const auto launches =
        order_launches(workload_.contenders.size(), workload_.cases.size(), planned_.rounds);
    double done = 0, left = 0;
    for (std::size_t i = 0; i < launches.size(); ++i) {
      const Launch& launch = launches[i];
      if (SignalWatch::seen() != 0) break;
      if (progress_.elapsed_seconds() > workload_.seconds) {
        ++harvest_.left_out;
        continue;
      }
      const bool begins_round = launch.round == harvest_.rounds;
      if (begins_round) {
        adapt_to_pace();
        left = planned_seconds(std::span(launches).subspan(i));
      }
      harvest_.rounds = launch.round + 1;
      progress_.show(label(launch), done / (done + left));
      if (is_wanted(launch)) take(launch);
      const double planned = planned_seconds(launch);
      done += planned;
      left -= planned;
    }
    harvest_.signal = SignalWatch::seen();
    harvest_.seconds = progress_.elapsed_seconds();
    return std::move(harvest_);
  }

 private:
  using Place = std::pair<std::size_t, std::size_t>;  // contender, case

  [[nodiscard]] const Contender& contender(const Launch& launch) const {
    return workload_.contenders[launch.contender];
  }
  [[nodiscard]] const Case& where(const Launch& launch) const { return workload_.cases[launch.where]; }

  // Before each round.
  void adapt_to_pace() {
    if (planned_of_launches_ == 0) return;
    const double pace = seconds_of_launches_ / planned_of_launches_;
    budget_ = adapt_budget(workload_, planned_, {harvest_.rounds, progress_.elapsed_seconds(), pace});
    const bool is_shorter =
        budget_.launch_rounds < planned_.launch_rounds || budget_.round_ms < planned_.round_ms;
    if (is_shorter && !harvest_.is_shortened)
      progress_.say(
          fmt::format("# Launches take {:.1f} times as long as planned: later ones are made shorter", pace));
    harvest_.is_shortened = harvest_.is_shortened || is_shorter;
  }

  [[nodiscard]] double planned_seconds(std::span<const Launch> launches) const {
    double seconds = 0;
    for (const Launch& launch : launches) seconds += planned_seconds(launch);
    return seconds;
  }
  [[nodiscard]] double planned_seconds(const Launch& launch) const {
    return launch_seconds(contender(launch), where(launch), sizes_of(where(launch), workload_.sizes),
                          budget_.launch_rounds, budget_.round_ms, workload_.cores);
  }

  [[nodiscard]] std::string label(const Launch& launch) const {
    return fmt::format("round {} of {}: {}, {}", launch.round + 1, planned_.rounds, title_of(where(launch)),
                       contender(launch).name);
  }

  [[nodiscard]] bool is_wanted(const Launch& launch) const {
    const auto found = failures_.find({launch.contender, launch.where});
    return found == failures_.end() || found->second < most_failures;
  }

  void take(const Launch& launch) {
    const std::string rows = folder_.file("rows.jsonl");
    std::filesystem::remove(rows);
    const Origin origin{where(launch), launch.round, contender(launch).name, contender(launch).program,
                        measure_memcpy().value_or(0)};
    const auto command =
        command_of(contender(launch), where(launch), sizes_of(where(launch), workload_.sizes), budget_, rows);
    const std::chrono::duration<double> deadline(deadline_factor * planned_seconds(launch) +
                                                 deadline_seconds);
    const ChildEnd end = run_child(command, deadline, [this] { progress_.refresh(); });
    if (end.how == ChildEnd::How::interrupted) return;
    if (end.how != ChildEnd::How::exited || end.code != 0) {
      fail(launch, end);
      return;
    }
    seconds_of_launches_ += end.seconds;
    planned_of_launches_ += planned_seconds(launch);
    keep_rows(launch, origin, rows);
  }

  void keep_rows(const Launch& launch, const Origin& origin, const std::string& rows) {
    try {
      auto samples = read_rows(contents_of(rows), origin);
      if (samples.empty()) throw std::runtime_error("it has written no rows");
      std::move(samples.begin(), samples.end(), std::back_inserter(harvest_.samples));
    } catch (const std::runtime_error& error) {
      note(launch, error.what(), false);
    }
  }

  void fail(const Launch& launch, const ChildEnd& end) {
    const bool is_unsupported = end.how == ChildEnd::How::exited && end.code == exit_unsupported;
    note(launch, is_unsupported ? refusal_in(end) : reason_of(end), is_unsupported);
    // These would come again.
    if (is_unsupported || end.how != ChildEnd::How::exited)
      failures_[{launch.contender, launch.where}] = most_failures;
  }

  void note(const Launch& launch, const std::string& text, bool is_unsupported) {
    ++failures_[{launch.contender, launch.where}];
    const auto same = std::find_if(harvest_.notes.begin(), harvest_.notes.end(), [&](const Note& one) {
      return one.contender == contender(launch).name && one.where == where(launch) && one.text == text;
    });
    if (same != harvest_.notes.end()) {
      ++same->times;
      return;
    }
    harvest_.notes.push_back({contender(launch).name, where(launch), text, is_unsupported});
    if (!is_unsupported)
      progress_.say(fmt::format("# {}, {}: {}", contender(launch).name, title_of(where(launch)), text));
  }

  const Workload& workload_;
  const Budget& planned_;
  Budget budget_;  // of this round
  // Of launches that ended well: what they took, and were thought to take.
  double seconds_of_launches_ = 0, planned_of_launches_ = 0;
  Progress& progress_;
  TemporaryFolder folder_;
  std::map<Place, int> failures_;
  Harvest harvest_;
};

}  // namespace

Harvest run_launches(const Workload& workload, const Budget& budget, Progress& progress) {
  return Harvester(workload, budget, progress).run();
}

}  // namespace parley::bench::compare
