#include "bench/peers/peer_options.h"

#include <CLI/CLI.hpp>

#include "bench/choice.h"

namespace parley::bench {
namespace {

std::vector<std::string_view> op_names() {
  std::vector<std::string_view> names;
  for (const Operation& each : operations) names.push_back(each.name);
  return names;
}

// What was written, before it is understood.
struct Words {
  std::string op;
  std::string ranks = "2";
  std::string transport;
  std::string sizes;
  std::string rounds;
  std::string round_ms;
  bool no_pin = false;
};

void define(CLI::App& app, const PeerProgram& program, Words& words, PeerOptions& options) {
  app.footer(
      "bench/peers/README.md says how each operation is measured.\n"
      "Exit code: 2 wrong usage; 1 when measuring failed.");
  const auto add = [&](const char* name, std::string& word, const char* type, const std::string& meaning) {
    app.add_option(name, word, meaning)->type_name(type);
  };
  add("OPERATION", words.op, "", "What to measure: " + enumerate(op_names()));
  add("--ranks", words.ranks, "N",
      "How many processes to start; an even number where pairs of them talk [2]");
  add("--transport", words.transport, "NAME",
      "What carries the messages: " + enumerate(program.transports) + " [" +
          std::string(program.transports.front()) + "]");
  add("--sizes", words.sizes, "SIZES",
      "Bytes of a message or a block: a list, or a range that doubles, such as 8:16M [8,1K,64K,1M]");
  add("--rounds", words.rounds, "N", "How often each size is measured [21]");
  add("--round-ms", words.round_ms, "MS", "About how many milliseconds that lasts [10]");
  add("--json", options.json_file, "FILE", "Append the figures to this file, one JSON object a line");
  app.add_flag("--rewrite", options.rewrite,
               "Write the buffers anew before each exchange, outside the measured time");
  app.set_version_flag("--version", program.version,
                       "Print which " + std::string(program.library) + " it is");
  app.add_flag("--no-pin", words.no_pin, "Let the system move the ranks between cores");
}

Op understand_op(const CLI::App& app, const Words& words) {
  if (app.count("OPERATION") == 0) throw CommandLineError("which operation? Write " + enumerate(op_names()));
  return operations[choose("operation", words.op, op_names())].op;
}

}  // namespace

std::optional<PeerOptions> parse_peer_options(const PeerProgram& program, int argc, const char* const* argv) {
  CLI::App app("Measures " + std::string(program.library) + " as parley-bench measures Parley.",
               std::string(program.name));
  Words words;
  PeerOptions options;
  define(app, program, words, options);
  if (!read_words(app, argc, argv)) return std::nullopt;
  options.op = understand_op(app, words);
  options.ranks = parse_number(
      "--ranks", words.ranks, is_collective(options.op) ? "a whole number" : "an even number", 2, most_ranks);
  check_ranks(options.op, options.ranks);
  const std::size_t transport =
      app.count("--transport") > 0 ? choose("transport", words.transport, program.transports) : 0;
  options.transport = program.transports[transport];
  options.sizes = sizes_for(options.op, app.count("--sizes") > 0 ? words.sizes : "8,1K,64K,1M");
  if (app.count("--rounds") > 0) {
    options.rounds = parse_number("--rounds", words.rounds, "a whole number", 1, most_rounds);
  }
  if (app.count("--round-ms") > 0) {
    options.round_ms =
        parse_number("--round-ms", words.round_ms, "milliseconds", least_round_ms, most_round_ms);
  }
  if (app.count("--json") > 0 && options.json_file.empty()) throw CommandLineError("--json: which file?");
  options.pin = !words.no_pin;
  return options;
}

}  // namespace parley::bench
