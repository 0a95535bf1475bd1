#pragma once

#include <charconv>
#include <cstddef>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "bench/op.h"

namespace CLI {
class App;
}

namespace parley::bench {

// What the command lines of all measuring programs have in common.

// The command line, or the world that a launcher gave, is not usable; what() says why in one line.
class CommandLineError : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

// Far beyond what one host measures usefully; a slip of the finger shall not start a million processes.
inline constexpr int most_ranks = 1024;
inline constexpr int most_rounds = 100'000;
inline constexpr double least_round_ms = 0.001;
inline constexpr double most_round_ms = 10'000;

// Lets the parser read; false when help was asked for and printed. All below throw CommandLineError.
bool read_words(CLI::App& app, int argc, const char* const* argv);

// The number that is all of the word and lies within the limits.
template <typename Number>
Number parse_number(const char* option, std::string_view word, const char* kind, Number least, Number most) {
  Number number{};
  const char* end = word.data() + word.size();
  const auto [rest, error] = std::from_chars(word.data(), end, number);
  if (error == std::errc{} && rest == end && number >= least && number <= most) return number;
  std::ostringstream text;
  text << option << " '" << word << "': write " << kind << " from " << least << " to " << most;
  throw CommandLineError(text.str());
}

// A command as it was written: the words with spaces between them.
std::string command_text(std::string program, const std::vector<std::string>& arguments);

// What --sizes says.
std::vector<std::size_t> sizes_from(const std::string& list);

// The same for an operation: a barrier moves nothing; collectives move 32-bit floats.
std::vector<std::size_t> sizes_for(Op op, const std::string& list);

// At least 2, and no more than one host can start; an even number where pairs of ranks talk.
void check_ranks(Op op, int ranks);

}  // namespace parley::bench
