#pragma once

#include <string>
#include <vector>

#include "bench/compare/outcome.h"
#include "bench/compare/study.h"

namespace parley::bench::compare {

inline constexpr double near_ns = 60;
inline constexpr double far_ns = 230;

inline const Case latency_over_shm{"latency", "shm", 2, false};
inline const Case bandwidth_over_tcp{"bandwidth", "tcp", 2, false};

inline Sample sample_of(const std::string& system, int round, double us, double probe_ns = near_ns,
                        const Case& where = latency_over_shm, std::size_t bytes = 1024) {
  Sample sample;
  sample.where = where;
  sample.bytes = bytes;
  sample.system = system;
  sample.round = round;
  sample.us = us;
  sample.probe_ns = probe_ns;
  return sample;
}

// One figure for each round.
inline void add(std::vector<Sample>& samples, const std::string& system, const std::vector<double>& us,
                const Case& where = latency_over_shm, std::size_t bytes = 1024) {
  for (std::size_t i = 0; i < us.size(); ++i)
    samples.push_back(sample_of(system, static_cast<int>(i), us[i], near_ns, where, bytes));
}

inline void set_limits(std::vector<Sample>& samples, double limit_us) {
  for (Sample& sample : samples)
    if (sample.system == library_name) sample.limit_us = limit_us;
}

inline std::vector<Line> judge(const std::vector<Sample>& samples) {
  return judge_samples(samples, {2, true, {"parley", "openmpi", "mpich"}});
}

// Two cases, three systems, three sizes, five rounds; words in which markup matters.
inline Study example_study() {
  std::vector<Sample> samples;
  for (const Case& where : {latency_over_shm, bandwidth_over_tcp}) {
    for (const std::size_t bytes : {8U, 1024U, 65536U}) {
      const double us = 1 + static_cast<double>(bytes) / 10'000;
      std::vector<Sample> own;
      add(own, "parley", {us, us * 1.01, us * 0.99, us * 1.02, us}, where, bytes);
      set_limits(own, us * 0.8);
      for (Sample& sample : own) sample.limit_us = *sample.limit_us * (bytes == 8 ? 0.2 : 1);
      add(own, "openmpi", {us * 1.5, us * 1.52, us * 1.49, us * 1.5, us * 1.6}, where, bytes);
      samples.insert(samples.end(), own.begin(), own.end());
    }
  }
  Study study;
  study.date = "2026-01-02 03:04 UTC";
  study.command = "parley-bench compare --peer \"a=<b>&c\"";
  study.children = {"parley-bench latency", "peer-openmpi latency"};
  study.machine = {{"Processor", "A <fast> & \"good\" one"}};
  study.rounds = 5;
  study.seconds = 75;
  study.lines = judge(samples);
  study.notes = {{"mpich", latency_over_shm, "it said <nothing> & ended", false, 2},
                 {"mpich", bandwidth_over_tcp, "cannot do that", true, 1}};
  return study;
}

}  // namespace parley::bench::compare
