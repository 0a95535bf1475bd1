#pragma once

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/contract/store/temporary_folder.h"
#include "tests/multiprocess/launch/command.h"

namespace parley::testing {

using Words = std::vector<std::string>;
using launch::testing::Command;

inline Words operator+(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

// What `ranks` probes on one host print, sorted.
inline std::string expected_of(int ranks) {
  std::string text;
  for (int rank = 0; rank < ranks; ++rank) {
    const std::string number = std::to_string(rank);
    text += "rank " + number + " of " + std::to_string(ranks) + ", local rank " + number + ", got " +
            std::to_string((rank + ranks - 1) % ranks) + "\n";
  }
  return text;
}

// A runtime folder of the test's own, so that what is left in it is seen.
class RuntimeFolder {
 public:
  [[nodiscard]] std::map<std::string, std::string> environment() const {
    return {{"XDG_RUNTIME_DIR", folder_.path()},
            {"PARLEY_SECRET", "the secret of the discovery tests"},
            {"PARLEY_INIT_TIMEOUT", "60s"}};
  }
  // The files of jobs that are there still.
  [[nodiscard]] std::size_t files() const {
    const std::filesystem::path folder = folder_.path() + "/parley";
    if (!std::filesystem::exists(folder)) return 0;
    const std::filesystem::directory_iterator begin(folder);
    return static_cast<std::size_t>(std::distance(begin, std::filesystem::directory_iterator()));
  }
  [[nodiscard]] const std::string& path() const { return folder_.path(); }

 private:
  const test::TemporaryFolder folder_;
};

}  // namespace parley::testing
