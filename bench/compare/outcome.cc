#include "bench/compare/outcome.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "bench/compare/floor.h"
#include "bench/series.h"
#include "bench/statistics.h"

namespace parley::bench::compare {
namespace {

Mode mode_of_sample(const Sample& sample) {
  return mode_of(std::span(&sample.probe_ns, 1));
}

// A system that does not probe is taken at its word.
bool met_one_place(const Sample& a, const Sample& b) {
  return a.probe_ns <= 0 || b.probe_ns <= 0 || mode_of_sample(a) == mode_of_sample(b);
}

bool is_disturbed(const Sample& sample) {
  return sample.core_share && *sample.core_share < undisturbed_share;
}

bool knows_modes(const Case& where, const Judging& judging) {
  return where.ranks <= judging.cores;
}

// Those that count, and what becomes of the others.
Entry make_entry(std::string system, std::vector<Sample> samples, const Judging& judging) {
  Entry entry;
  entry.system = std::move(system);
  const std::size_t all = samples.size();
  std::erase_if(samples, [&](const Sample& sample) {
    auto reason = sample_void_reason(sample, judging.cores);
    if (reason && !entry.void_reason) entry.void_reason = std::move(reason);
    return sample_void_reason(sample, judging.cores).has_value();
  });
  const auto disturbed = std::count_if(samples.begin(), samples.end(), is_disturbed);
  if (3 * (samples.size() - static_cast<std::size_t>(disturbed)) >= samples.size())
    std::erase_if(samples, is_disturbed);
  entry.left_out = static_cast<int>(all - samples.size());
  entry.samples = std::move(samples);
  if (!entry.samples.empty()) entry.void_reason.reset();
  return entry;
}

// Of the samples that tell it.
std::vector<double> values_of(const Entry& entry, std::optional<double> Sample::*field) {
  std::vector<double> values;
  for (const Sample& sample : entry.samples)
    if (sample.*field) values.push_back(*(sample.*field));
  return values;
}

std::optional<double> median_of(const Entry& entry, std::optional<double> Sample::*field) {
  std::vector<double> values = values_of(entry, field);
  if (values.empty()) return std::nullopt;
  return median(std::move(values));
}

void fill_figures(Entry& entry) {
  if (entry.samples.empty()) return;
  std::vector<double> us;
  for (const Sample& sample : entry.samples) {
    us.push_back(sample.us);
    if (sample.wrong) entry.wrong = entry.wrong.value_or(0) + *sample.wrong;
  }
  entry.lo_us = smallest(us);
  entry.hi_us = largest(us);
  entry.median_us = median(std::move(us));
  entry.p99_us = median_of(entry, &Sample::p99_us);
  entry.p999_us = median_of(entry, &Sample::p999_us);
  const std::vector<double> shares = values_of(entry, &Sample::core_share);
  if (!shares.empty()) entry.core_share = smallest(shares);
}

// The limit that the library's launches measured beside it, as a system of its own.
std::optional<Entry> limit_of(const Entry& of_library, const Judging& judging) {
  Entry entry;
  entry.system = limit_name;
  for (const Sample& sample : of_library.samples) {
    if (!sample.limit_us) continue;
    if (auto reason = limit_void_reason(sample, judging.cores)) {
      ++entry.left_out;
      if (!entry.void_reason) entry.void_reason = std::move(reason);
      continue;
    }
    Sample one = sample;
    one.system = limit_name;
    one.us = *sample.limit_us;
    // These are the library's.
    one.p99_us.reset();
    one.p999_us.reset();
    one.core_share.reset();
    one.wrong.reset();
    entry.samples.push_back(std::move(one));
  }
  if (entry.samples.empty() && !entry.void_reason) return std::nullopt;
  // A loop that is broken in most launches is broken.
  if (entry.left_out > static_cast<int>(entry.samples.size())) entry.samples.clear();
  if (entry.has_figures()) entry.void_reason.reset();
  fill_figures(entry);
  return entry;
}

std::optional<Ratio> ratio_between(const Entry& above, const Entry& below, bool knows_modes) {
  std::vector<double> ratios;
  for (const Sample& a : above.samples) {
    for (const Sample& b : below.samples) {
      if (a.round != b.round) continue;
      if (knows_modes && !met_one_place(a, b)) continue;
      ratios.push_back(a.us / b.us);
    }
  }
  if (ratios.empty()) return std::nullopt;
  return median_ratio(ratios);
}

void compare_entries(Line& line, const Judging& judging) {
  const Entry* const own = line.find(library_name);
  if (own == nullptr || !own->has_figures()) return;
  const bool modes = knows_modes(line.where, judging);
  const Entry* best = nullptr;
  for (const Entry& entry : line.entries) {
    if (&entry == own || !entry.has_figures()) continue;
    if (entry.system == limit_name) {
      line.to_limit = ratio_between(*own, entry, modes);
    } else if (best == nullptr || entry.median_us < best->median_us) {
      best = &entry;
    }
  }
  if (best == nullptr) return;
  line.best_peer = best->system;
  line.to_peer = ratio_between(*own, *best, modes);
}

bool is_mostly_disturbed(const Entry* entry) {
  if (entry == nullptr) return false;
  const auto disturbed = std::count_if(entry->samples.begin(), entry->samples.end(), is_disturbed);
  return 2 * static_cast<std::size_t>(disturbed) > entry->samples.size();
}

// REQUIRES: the best peer is known.
void fill_state(Line& line, const Judging& judging) {
  std::vector<double> probes;
  for (const Entry& entry : line.entries) {
    if (entry.system == limit_name) continue;
    for (const Sample& sample : entry.samples)
      if (sample.probe_ns > 0) probes.push_back(sample.probe_ns);
  }
  // The two that the line's ratios are of: a quiet system beside them makes them no better.
  line.disturbed = is_mostly_disturbed(line.find(library_name)) ||
                   (line.best_peer && is_mostly_disturbed(line.find(*line.best_peer)));
  if (probes.empty()) return;
  if (knows_modes(line.where, judging)) line.mode = mode_of(probes);
  line.probe_ns = median(std::move(probes));
}

std::size_t place_of(const std::string& system, const Judging& judging) {
  if (system == library_name) return 0;
  const auto found = std::find(judging.order.begin(), judging.order.end(), system);
  return 1 + static_cast<std::size_t>(found - judging.order.begin());
}

// The samples of one case and size, split by system.
std::vector<Entry> split(std::vector<Sample> samples, const Judging& judging) {
  std::vector<std::pair<std::string, std::vector<Sample>>> systems;
  for (Sample& sample : samples) {
    auto found = std::find_if(systems.begin(), systems.end(),
                              [&](const auto& one) { return one.first == sample.system; });
    if (found == systems.end()) {
      systems.emplace_back(sample.system, std::vector<Sample>{});
      found = systems.end() - 1;
    }
    found->second.push_back(std::move(sample));
  }
  std::stable_sort(systems.begin(), systems.end(), [&](const auto& a, const auto& b) {
    return place_of(a.first, judging) < place_of(b.first, judging);
  });
  std::vector<Entry> entries;
  for (auto& [system, own] : systems) {
    entries.push_back(make_entry(system, std::move(own), judging));
    fill_figures(entries.back());
  }
  return entries;
}

std::size_t place_of_operation(const std::string& name) {
  return static_cast<std::size_t>(&operation(name) - all_operations().data());
}

struct Group {
  Case where;
  std::size_t bytes;
  std::vector<Sample> samples;
};

std::vector<Group> grouped(std::span<const Sample> samples) {
  std::vector<Group> groups;
  for (const Sample& sample : samples) {
    auto found = std::find_if(groups.begin(), groups.end(), [&](const Group& group) {
      return group.where == sample.where && group.bytes == sample.bytes;
    });
    if (found == groups.end()) {
      groups.push_back({sample.where, sample.bytes, {}});
      found = groups.end() - 1;
    }
    found->samples.push_back(sample);
  }
  // Sizes ascend within a case; cases of an operation stay as they came.
  std::vector<Case> cases;
  for (const Group& group : groups)
    if (std::find(cases.begin(), cases.end(), group.where) == cases.end()) cases.push_back(group.where);
  const auto place = [&](const Group& group) {
    const auto own = std::find(cases.begin(), cases.end(), group.where) - cases.begin();
    return std::tuple(place_of_operation(group.where.op), own, group.bytes);
  };
  std::stable_sort(groups.begin(), groups.end(),
                   [&](const Group& a, const Group& b) { return place(a) < place(b); });
  return groups;
}

}  // namespace

const Entry* Line::find(std::string_view system) const noexcept {
  const auto found =
      std::find_if(entries.begin(), entries.end(), [&](const Entry& one) { return one.system == system; });
  return found == entries.end() ? nullptr : &*found;
}

std::vector<Line> judge_samples(std::span<const Sample> samples, const Judging& judging) {
  std::vector<Line> lines;
  for (Group& group : grouped(samples)) {
    Line line;
    line.where = group.where;
    line.bytes = group.bytes;
    line.entries = split(std::move(group.samples), judging);
    const Entry* const own = line.find(library_name);
    if (judging.shows_limit && own != nullptr) {
      if (auto entry = limit_of(*own, judging)) line.entries.push_back(std::move(*entry));
    }
    compare_entries(line, judging);
    fill_state(line, judging);
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace parley::bench::compare
