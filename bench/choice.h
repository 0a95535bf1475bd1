#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace parley::bench {

// What stands between the commas of a list; at least one part, which may be empty. They borrow the list.
std::vector<std::string_view> parts_of(std::string_view list);

// "a, b or c". REQUIRES: at least one name.
std::string enumerate(std::span<const std::string_view> names);

// The place of `word` among `names`, of which it must be one, letter by letter. Throws CommandLineError with
// all of them and the one that was probably meant; `what` says what they are: "operation".
std::size_t choose(std::string_view what, std::string_view word, std::span<const std::string_view> names);

}  // namespace parley::bench
