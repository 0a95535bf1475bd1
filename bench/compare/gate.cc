#include "bench/compare/gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "bench/row.h"
#include "bench/sizes.h"

namespace parley::bench::compare {
namespace {

constexpr std::size_t least_values = 3;

Standing standing_of(const Line& line, const Entry& own) {
  Standing standing{line.where, line.bytes, {}, {}, {}, line.mode, line.disturbed};
  const Entry* const bound = line.find(limit_name);
  for (const Sample& sample : own.samples) {
    standing.us.push_back(sample.us);
    if (bound == nullptr) continue;
    for (const Sample& other : bound->samples) {
      if (other.round != sample.round) continue;
      standing.limit_times.push_back(sample.us / other.us);
      standing.limit_probe_ns.push_back(sample.probe_ns);
    }
  }
  return standing;
}

std::optional<Mode> mode_named(const nlohmann::json& name) {
  if (!name.is_string()) return std::nullopt;
  for (const Mode mode : {Mode::sibling, Mode::near, Mode::far, Mode::mixed})
    if (name == to_string(mode)) return mode;
  return std::nullopt;
}

std::optional<Standing> standing_in(const std::string& line) {
  const nlohmann::json row = nlohmann::json::parse(line, nullptr, false);
  if (!row.is_object() || row.value("schema", "") != schema) return std::nullopt;
  if (row.value("system", "") != library_name || !row.contains("samples_us")) return std::nullopt;
  Standing standing;
  standing.where = {row.at("op"), row.at("transport"), row.at("ranks"), row.at("buffers") == "rewritten",
                    row.value("arena", false)};
  standing.bytes = row.at("bytes");
  standing.us = row.at("samples_us").get<std::vector<double>>();
  standing.mode = mode_named(row.at("mode"));
  standing.disturbed = row.at("disturbed");
  const nlohmann::json& limits = row.at("samples_limit_us");
  const nlohmann::json& probes = row.at("samples_probe_ns");
  for (std::size_t i = 0; i < standing.us.size() && i < limits.size(); ++i) {
    if (!limits[i].is_number()) continue;
    standing.limit_times.push_back(standing.us[i] / limits[i].get<double>());
    standing.limit_probe_ns.push_back(probes.at(i).get<double>());
  }
  return standing;
}

bool has_limit(const Standing& standing) {
  return standing.limit_times.size() >= least_values;
}

bool in_one_place(const Standing& a, const Standing& b) {
  return a.mode == b.mode && a.mode != Mode::mixed;
}

std::vector<double> limit_times_in(const Standing& standing, Mode place) {
  std::vector<double> times;
  for (std::size_t i = 0; i < standing.limit_times.size(); ++i)
    if (mode_of(std::span(&standing.limit_probe_ns[i], 1)) == place) times.push_back(standing.limit_times[i]);
  return times;
}

// Times over the limit that may be compared; few or none if there are none.
struct LimitTimes {
  std::vector<double> now;
  std::vector<double> before;
  [[nodiscard]] std::size_t count() const noexcept { return std::min(now.size(), before.size()); }
};

LimitTimes comparable_limit_times(const Standing& now, const Standing& before) {
  if (!now.mode && !before.mode) return {now.limit_times, before.limit_times};
  LimitTimes most;
  for (const Mode place : {Mode::sibling, Mode::near, Mode::far}) {
    LimitTimes times{limit_times_in(now, place), limit_times_in(before, place)};
    if (times.count() > most.count()) most = std::move(times);
  }
  return most;
}

std::optional<Change> change_between(const Standing& now, const Standing& before) {
  if (now.disturbed || before.disturbed) return std::nullopt;
  Change change{now.where, now.bytes, {}, has_limit(now) && has_limit(before)};
  if (change.relative_to_limit) {
    const LimitTimes times = comparable_limit_times(now, before);
    if (times.count() < least_values) return std::nullopt;
    change.times = ratio_of_medians(times.now, times.before);
    return change;
  }
  if (std::min(now.us.size(), before.us.size()) < least_values || !in_one_place(now, before))
    return std::nullopt;
  change.times = ratio_of_medians(now.us, before.us);
  return change;
}

std::string change_text(const Change& change) {
  return fmt::format("{}, {}: {:.2f} times the time before [{:.2f}, {:.2f}]{}", title_of(change.where),
                     spell_size(change.bytes), change.times.value, change.times.bounds->lo,
                     change.times.bounds->hi,
                     change.relative_to_limit ? ", each over its run's raw limit" : "");
}

const Standing* find(const std::vector<Standing>& standings, const Standing& like) {
  const auto found = std::find_if(standings.begin(), standings.end(), [&](const Standing& one) {
    return one.where == like.where && one.bytes == like.bytes;
  });
  return found == standings.end() ? nullptr : &*found;
}

}  // namespace

std::vector<Standing> standings_of(const std::vector<Line>& lines) {
  std::vector<Standing> standings;
  for (const Line& line : lines) {
    const Entry* const own = line.find(library_name);
    if (own != nullptr && own->has_figures()) standings.push_back(standing_of(line, *own));
  }
  return standings;
}

std::vector<Standing> read_standings(const std::string& text) {
  std::vector<Standing> standings;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    try {
      auto standing = standing_in(line);
      if (!standing) continue;
      std::erase_if(standings, [&](const Standing& one) {
        return one.where == standing->where && one.bytes == standing->bytes;
      });
      standings.push_back(std::move(*standing));
    } catch (const nlohmann::json::exception& error) {
      throw std::runtime_error("a row cannot be used (" + std::string(error.what()) + "): " + line);
    }
  }
  if (standings.empty())
    throw std::runtime_error(
        "no row of Parley's with samples in it: parley-bench compare --json writes such a file");
  return standings;
}

Judgement judge_change(const std::vector<Standing>& now, const std::vector<Standing>& before,
                       double tolerance) {
  Judgement judgement;
  for (const Standing& old : before) {
    const Standing* const present = find(now, old);
    if (present == nullptr) {
      ++judgement.missing;
      continue;
    }
    const auto change = change_between(*present, old);
    if (!change) {
      ++judgement.not_comparable;
      continue;
    }
    judgement.compared.push_back(*change);
    if (change->times.bounds->lo > 1 + tolerance) judgement.slower.push_back(*change);
    if (change->times.bounds->hi < 1 / (1 + tolerance)) judgement.faster.push_back(*change);
  }
  const auto more = [](const Change& a, const Change& b) { return a.times.value > b.times.value; };
  std::sort(judgement.slower.begin(), judgement.slower.end(), more);
  std::sort(judgement.faster.rbegin(), judgement.faster.rend(), more);
  return judgement;
}

bool says_nothing(const Judgement& judgement) {
  return judgement.compared.empty();
}

std::string judgement_text(const Judgement& judgement, double tolerance) {
  std::string text;
  for (const Change& change : judgement.slower) text += "SLOWER  " + change_text(change) + "\n";
  for (const Change& change : judgement.faster) text += "faster  " + change_text(change) + "\n";
  text += fmt::format(
      "{} lines compared: {} slower, {} faster by more than {:.0f} % with all of their interval",
      judgement.compared.size(), judgement.slower.size(), judgement.faster.size(), 100 * tolerance);
  if (judgement.not_comparable > 0)
    text += fmt::format(
        "; {} not comparable (mixed or different places of the cores, disturbed, or fewer than 3 "
        "rounds)",
        judgement.not_comparable);
  if (judgement.missing > 0) text += fmt::format("; {} of the earlier run not measured", judgement.missing);
  text += "\n";
  if (says_nothing(judgement))
    text += "Nothing at all could be compared with the earlier run, so that nothing is known of a change\n";
  return text;
}

LimitJudgement judge_limit(const std::vector<Line>& lines, double times) {
  LimitJudgement judgement;
  for (const Line& line : lines) {
    if (line.disturbed) {
      ++judgement.disturbed;
      continue;
    }
    // Both were measured by one launch, so it does not matter whether all launches met the cores in one
    // place.
    if (!line.to_limit || !line.to_limit->bounds) {
      ++judgement.without_limit;
      continue;
    }
    ++judgement.held;
    if (line.to_limit->bounds->lo <= times) continue;
    judgement.beyond.push_back(
        fmt::format("{}, {}: {:.2f} times the raw limit [{:.2f}, {:.2f}], more than {}", title_of(line.where),
                    spell_size(line.bytes), line.to_limit->value, line.to_limit->bounds->lo,
                    line.to_limit->bounds->hi, times));
  }
  return judgement;
}

bool says_nothing(const LimitJudgement& judgement) {
  return judgement.held == 0 && judgement.disturbed == 0;
}

std::string judgement_text(const LimitJudgement& judgement, double times) {
  std::string text;
  for (const std::string& line : judgement.beyond) text += "BEYOND  " + line + "\n";
  text += fmt::format("{} held against {} times the raw limit: {} beyond", counted(judgement.held, "line"),
                      times, judgement.beyond.size());
  if (judgement.disturbed > 0) text += fmt::format("; {} DISTURBED", judgement.disturbed);
  if (judgement.without_limit > 0)
    text += fmt::format("; {} without a limit in three rounds", judgement.without_limit);
  text += "\n";
  if (says_nothing(judgement))
    text += "No line could be held against its limit, and nothing disturbed them\n";
  return text;
}

}  // namespace parley::bench::compare
