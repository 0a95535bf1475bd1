#include "bench/options.h"

#include <CLI/CLI.hpp>
#include <map>
#include <stdexcept>

#include "bench/sizes.h"

namespace parley::bench {
namespace {

const std::map<std::string, Op> ops = {
    {to_string(Op::latency), Op::latency},
    {to_string(Op::bandwidth), Op::bandwidth},
    {to_string(Op::message_rate), Op::message_rate},
};

const char* default_sizes(Op op) {
  return op == Op::message_rate ? "8" : "8,1K,64K,1M";
}

}  // namespace

ParsedOptions parse_options(int argc, const char* const* argv) {
  CLI::App app(
      "Measures Parley between pairs of processes (0-1, 2-3, ...), next to the limit in the same rounds.",
      "parley-bench");
  Options options;
  std::string sizes;
  int ranks = 0;
  bool pin = false;
  app.add_option("op", options.op, "latency, bandwidth or message-rate")
      ->required()
      ->transform(CLI::CheckedTransformer(ops).description(""));
  auto* ranks_option = app.add_option("--ranks", ranks, "Processes to start, an even number [2]");
  app.add_option("--transport", options.transport, "What carries the messages")
      ->check(CLI::IsMember({"tcp"}))
      ->capture_default_str();
  app.add_option("--sizes", sizes,
                 "Message sizes: 8,1K,64K,1M or 8:16M, which doubles [8,1K,64K,1M; message-rate: 8]");
  app.add_option("--json", options.json_file, "Append one JSON object a line to this file");
  app.add_option("--rounds", options.rounds, "Interleaved rounds per size")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  app.add_option("--round-ms", options.round_ms, "About how long one system's turn in a round lasts")
      ->check(CLI::Range(0.001, 10'000.0))
      ->capture_default_str();
  auto* pin_option = app.add_flag("--pin,!--no-pin", pin, "One core per rank [when there are enough]");
  try {
    app.parse(argc, argv);
    if (*ranks_option) check_ranks(options.ranks.emplace(ranks));
    if (*pin_option) options.pin = pin;
    options.sizes = parse_sizes(sizes.empty() ? default_sizes(options.op) : sizes);
  } catch (const CLI::ParseError& error) {
    return {std::nullopt, app.exit(error)};
  } catch (const std::invalid_argument& error) {
    return {std::nullopt, app.exit(CLI::ValidationError(error.what()))};
  }
  return {options, 0};
}

void check_ranks(int ranks) {
  if (ranks >= 2 && ranks % 2 == 0) return;
  throw std::invalid_argument(std::to_string(ranks) + " ranks: pairs of ranks talk, so their number is even");
}

}  // namespace parley::bench
