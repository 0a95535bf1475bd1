#include "tools/sim/study.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <utility>

#include "tools/sim/crew.h"
#include "tools/sim/quantity.h"

namespace parley::sim {

Study conduct(const Options& options) {
  Study study{.options = options, .model = library_model()};
  if (!options.calibrate.empty()) {
    std::ifstream file(options.calibrate);
    if (!file) throw UsageError(fmt::format("--calibrate {}: cannot be read", options.calibrate));
    study.calibration = calibrate(read_rows(file, options.calibrate), study.model);
    study.model = study.calibration->model;
  }
  study.model = with_prices(study.model, options);
  std::vector<Setting> settings;
  std::vector<std::pair<std::size_t, Call>> calls;  // of which setting
  for (const std::uint64_t ranks : options.ranks) {
    settings.push_back(setting_for(options, study.model, ranks));
    for (const std::uint64_t bytes : options.bytes) {
      if (options.operation == schedule::Operation::barrier && bytes != options.bytes.front()) continue;
      calls.emplace_back(settings.size() - 1, Call{.operation = options.operation,
                                                   .bytes = bytes,
                                                   .element_bytes = options.element_bytes,
                                                   .lends = options.lends});
    }
  }
  study.contests.resize(calls.size());
  for_each_of(calls.size(), [&](std::size_t i) {
    study.contests[i] = hold(settings[calls[i].first], calls[i].second, options.trouble, options.only);
  });
  return study;
}

std::vector<std::span<const Contest>> by_ranks(const Study& study) {
  std::vector<std::span<const Contest>> parts;
  for (auto begin = study.contests.begin(); begin != study.contests.end();) {
    const auto end = std::find_if(begin, study.contests.end(), [&](const Contest& contest) {
      return contest.network.ranks != begin->network.ranks;
    });
    parts.emplace_back(begin, end);
    begin = end;
  }
  return parts;
}

std::string network_text(const Network& network) {
  std::string text =
      fmt::format("{} ranks on {} host{}", network.ranks, network.hosts(), network.hosts() == 1 ? "" : "s");
  if (network.hosts() > 1 && network.ranks_per_host > 1)
    text += fmt::format(" of {}", network.ranks_per_host);
  if (network.hosts() > 1)
    text += fmt::format(", {} rail{} of {}{}", network.rails, network.rails == 1 ? "" : "s",
                        format_rate(network.rail_byte_ns), network.rails == 1 ? "" : " each");
  if (network.racks() > 1)
    text += fmt::format(", {} racks of {} hosts with uplinks of {}", network.racks(), network.hosts_per_rack,
                        format_rate(network.uplink_byte_ns()));
  return text;
}

std::string figure_text(const Figure& figure) {
  const char* const mark = figure.accuracy == Accuracy::exact    ? ""
                           : figure.accuracy == Accuracy::evened ? "~"
                                                                 : "<";
  return mark + format_ns(figure.ns);
}

std::string algorithm_text(const schedule::Candidate& candidate, std::uint64_t element_bytes) {
  std::string text(schedule::name(candidate.algorithm));
  if (candidate.segment_count > 0) text += " in " + format_bytes(candidate.segment_count * element_bytes);
  return text;
}

std::string winners_text(std::span<const Contest> contests) {
  std::string text;
  for (std::size_t begin = 0; begin < contests.size();) {
    std::size_t last = begin;
    const auto winner = [&](std::size_t i) { return contests[i].fastest().candidate.algorithm; };
    while (last + 1 < contests.size() && winner(last + 1) == winner(begin)) ++last;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", schedule::name(winner(begin)),
                        format_bytes(contests[begin].call.bytes));
    if (last > begin) text += " to " + format_bytes(contests[last].call.bytes);
    begin = last + 1;
  }
  return text;
}

std::string marks_text(const Study& study) {
  bool has[3] = {};
  const auto note = [&](const Figure& figure) { has[static_cast<std::size_t>(figure.accuracy)] = true; };
  for (const Contest& contest : study.contests) {
    for (const Entrant& entrant : contest.entrants) {
      note(entrant.figure);
      if (entrant.slowed) note(*entrant.slowed);
    }
    if (contest.remainder) note(contest.remainder->chosen.figure);
  }
  std::string text;
  if (has[1]) text += "~ blocks rounded up to equal sizes. ";
  if (has[2])
    text +=
        "< not simulated, for it has more steps than --most-steps or promises many times the time of the "
        "fastest: what the algorithm promises, a bound from above. ";
  if (!text.empty()) text.pop_back();
  return text;
}

}  // namespace parley::sim
