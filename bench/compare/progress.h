#pragma once

#include <string>

#include "bench/stopwatch.h"

namespace parley::bench::compare {

// "0:07", "12:30", "1:02:03"
std::string format_duration(double seconds);

// How much longer, from what has been done: by the plan at first, by the run's own pace more and more.
// Parts are those of the plan's time, 0 to 1.
double remaining_seconds(double planned_seconds, double part_done, double elapsed_seconds);

// One line at the foot of a terminal, on stderr, which tells what runs and how much longer; nothing when
// stderr is none, or `quiet`.
class Progress {
 public:
  Progress(double planned_seconds, bool quiet);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // What runs at this moment, and the part of the plan's time that is done.
  void show(const std::string& what, double part_done);
  // The same again, as time goes by.
  void refresh() const;
  // A line of its own above, also where there is no terminal.
  void say(const std::string& text) const;
  [[nodiscard]] double elapsed_seconds() const noexcept { return watch_.elapsed_us() / 1e6; }

 private:
  void clear() const;

  double planned_seconds_;
  bool quiet_;
  bool shows_;
  std::string what_;
  double part_done_ = 0;
  Stopwatch watch_;
};

}  // namespace parley::bench::compare
