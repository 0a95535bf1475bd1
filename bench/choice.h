#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace parley::bench {

// "a, b or c". REQUIRES: at least one name.
std::string enumerate(std::span<const std::string_view> names);

// The place of `word` among `names`, of which it must be one, letter by letter. Throws CommandLineError with
// all of them and the one that was probably meant; `what` says what they are: "operation".
std::size_t choose(std::string_view what, std::string_view word, std::span<const std::string_view> names);

}  // namespace parley::bench
