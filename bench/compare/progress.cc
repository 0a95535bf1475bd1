#include "bench/compare/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>

namespace parley::bench::compare {
namespace {

std::size_t terminal_columns() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 20) return 80;
  return size.ws_col;
}

std::string bar(double part) {
  constexpr int cells = 20;
  const int full = static_cast<int>(part * cells);
  return "[" + std::string(static_cast<std::size_t>(full), '#') +
         std::string(static_cast<std::size_t>(cells - full), '.') + "]";
}

}  // namespace

std::string format_duration(double seconds) {
  const auto whole = static_cast<long>(std::max(seconds, 0.0) + 0.5);
  if (whole >= 3600) return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

double remaining_seconds(double planned_seconds, double part_done, double elapsed_seconds) {
  const double by_plan = planned_seconds * (1 - part_done);
  if (part_done <= 0) return by_plan;
  const double by_pace = elapsed_seconds * (1 - part_done) / part_done;
  // A tenth of the way is enough to trust the pace.
  const double trust = std::min(1.0, 10 * part_done);
  return trust * by_pace + (1 - trust) * by_plan;
}

Progress::Progress(double planned_seconds, bool quiet)
    : planned_seconds_(planned_seconds), quiet_(quiet), shows_(!quiet && ::isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  clear();
}

void Progress::show(const std::string& what, double part_done) {
  what_ = what;
  part_done_ = std::clamp(part_done, 0.0, 1.0);
  refresh();
}

void Progress::refresh() const {
  if (!shows_) return;
  const double left = remaining_seconds(planned_seconds_, part_done_, elapsed_seconds());
  std::string line = fmt::format("{} {:>3.0f} %  {} left  {}", bar(part_done_), 100 * part_done_,
                                 format_duration(left), what_);
  line.resize(std::min(line.size(), terminal_columns() - 1));
  fmt::print(stderr, "\r\033[K{}", line);
  std::fflush(stderr);
}

void Progress::say(const std::string& text) const {
  if (quiet_) return;
  clear();
  fmt::print(stderr, "{}\n", text);
}

void Progress::clear() const {
  if (shows_) fmt::print(stderr, "\r\033[K");
}

}  // namespace parley::bench::compare
