#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace parley::bench {

// Message sizes in bytes from a comma-separated list: "8", "1K" (also M, G; powers of 1024), or a range
// "8:16M" that doubles from its first size up to at most its last. Throws std::invalid_argument, naming the
// part, when one is malformed, zero, too large or a range that runs backwards.
std::vector<std::size_t> parse_sizes(std::string_view text);

// The shortest form that parse_sizes() reads back: "64K", "1000".
std::string format_size(std::size_t bytes);

// The same for readers, with its unit: "64 KiB", "1000 B".
std::string spell_size(std::size_t bytes);

}  // namespace parley::bench
