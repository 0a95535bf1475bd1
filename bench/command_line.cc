#include "bench/command_line.h"

#include <CLI/CLI.hpp>

#include "bench/sizes.h"

namespace parley::bench {
namespace {

void refuse_extras(std::vector<std::string> extras) {
  std::erase(extras, "--");
  if (extras.empty()) return;
  if (extras.front().starts_with('-')) throw CommandLineError("there is no option " + extras.front());
  throw CommandLineError("'" + extras.front() +
                         "' is one word too many: one operation is measured at a time");
}

}  // namespace

bool read_words(CLI::App& app, int argc, const char* const* argv) {
  app.allow_extras();
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& request) {
    app.exit(request);
    return false;
  } catch (const CLI::ArgumentMismatch& error) {
    // "--json: 1 required FILE missing", "--rounds: At Most 1 required but received 2"
    const std::string_view text = error.what();
    throw CommandLineError(std::string(text.substr(0, text.find(':'))) + " takes exactly one value");
  } catch (const CLI::ParseError& error) {
    throw CommandLineError(error.what());
  }
  refuse_extras(app.remaining());
  return true;
}

std::vector<std::size_t> sizes_from(const std::string& list) {
  try {
    return parse_sizes(list);
  } catch (const std::invalid_argument& error) {
    throw CommandLineError(std::string("--sizes: ") + error.what());
  }
}

std::vector<std::size_t> sizes_for(Op op, const std::string& list) {
  if (op == Op::barrier) return {0};
  std::vector<std::size_t> sizes = sizes_from(list);
  if (!is_collective(op)) return sizes;
  for (const std::size_t bytes : sizes) {
    if (bytes % sizeof(float) == 0) continue;
    throw CommandLineError("--sizes: collectives move 32-bit floats, and " + format_size(bytes) +
                           " is no multiple of 4");
  }
  return sizes;
}

void check_ranks(Op op, int ranks) {
  if (ranks >= 2 && ranks <= most_ranks && (ranks % 2 == 0 || is_collective(op))) return;
  std::string why = "ranks talk in pairs (0-1, 2-3, ...), so there must be an even number of them";
  if (is_collective(op)) why = "a collective is of two ranks or more";
  if (ranks > most_ranks)
    why = "all ranks run on one host, at most " + std::to_string(most_ranks) + " of them";
  throw CommandLineError(std::to_string(ranks) + (ranks == 1 ? " rank: " : " ranks: ") + why);
}

std::string command_text(std::string program, const std::vector<std::string>& arguments) {
  for (const std::string& word : arguments) program += ' ' + word;
  return program;
}

}  // namespace parley::bench
