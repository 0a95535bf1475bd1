#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <vector>

#include "transport/protocol/path_choice.h"

namespace parley::transport {

inline constexpr std::size_t mib = 1 << 20;

// One pair, with a clock that is told what each message takes.
class TimedPair {
 public:
  static constexpr std::chrono::microseconds pause{1};

  // One message after the other; `cost`: of one by this path. How many came by the link.
  int run(int messages, std::size_t bytes, const std::function<std::chrono::nanoseconds(Path)>& cost) {
    int by_link = 0;
    for (int i = 0; i < messages; ++i) {
      const Path path = choice.choose(bytes);
      const auto since = choice.begin(path, now);
      now += cost(path);
      choice.end(path, bytes, since, now, path == Path::pull || link_brings_all);
      by_link += path == Path::link ? 1 : 0;
      now += pause;
    }
    return by_link;
  }
  int run(int messages, std::size_t bytes, std::chrono::nanoseconds pull, std::chrono::nanoseconds link) {
    return run(messages, bytes, [=](Path path) { return path == Path::pull ? pull : link; });
  }
  // As many at once, served one after the other on each path.
  int run_window(int messages, std::size_t bytes, std::chrono::nanoseconds pull,
                 std::chrono::nanoseconds link) {
    std::vector<Path> paths;
    const auto since = choice.start(now);
    for (int i = 0; i < messages; ++i) {
      paths.push_back(choice.choose(bytes));
      choice.begin(paths.back(), now);
    }
    for (const Path path : paths) {
      now += path == Path::pull ? pull : link;
      choice.end(path, bytes, since, now, true);
    }
    now += pause;
    return static_cast<int>(std::count(paths.begin(), paths.end(), Path::link));
  }

  bool link_brings_all = true;  // of what run() sends by it
  PathChoice choice;
  PathChoice::TimePoint now{std::chrono::hours(1)};
};

}  // namespace parley::transport
