#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace parley::base {

// The last cache before memory, as the kernel describes it.
struct LastCache {
  std::size_t bytes = 0;    // 0: nothing is known of it
  std::uint32_t cores = 1;  // that share it; hardware threads count
};

// That of core number `core`. `root` is put before every path that is read.
LastCache last_cache_of(std::uint16_t core, const std::string& root = "");

}  // namespace parley::base
