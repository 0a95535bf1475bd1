#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/scale/quantity.h"

namespace parley::bench::scale {

// The command line of `parley-bench scale`.
struct ScaleOptions {
  std::vector<int> ranks = {2, 4, 8, 16, 32, 64, 128};  // ascending, each once
  std::vector<Stage> stages;                            // what --what names, in the order of its list
  std::string transport = "shm";                        // or "tcp"
  int rounds = 3;
  std::string json_file;  // of these three, empty: none
  std::string html_file;
  std::string svg_folder;
  bool quiet = false;
};

// Nothing when help is asked for. Throws CommandLineError.
std::optional<ScaleOptions> parse_scale_options(const std::vector<std::string>& arguments);

// What `parley-bench scale --help` prints: a page in the manner of man(1).
std::string_view scale_manual() noexcept;

}  // namespace parley::bench::scale
