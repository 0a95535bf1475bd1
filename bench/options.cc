#include "bench/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <string_view>

#include "bench/choice.h"
#include "bench/sizes.h"

namespace parley::bench {
namespace {

constexpr std::string_view limits_name = "limits";
constexpr std::string_view both_transports = "shm,tcp";
constexpr std::array<std::string_view, 3> transports = {"tcp", "shm", both_transports};
constexpr std::array<std::string_view, 2> memories = {"cpu", "cuda"};

constexpr std::size_t largest_limit_bytes = std::size_t{1} << 30;

constexpr const char* footer = R"(Operations:
  latency       one message there and one back, blocking; half the time of both
  bandwidth     64 messages at a time in one direction
  bidirectional 64 messages at a time in both directions at once
  message-rate  as bandwidth, counted instead of weighed
  broadcast, reduce, all_reduce, all_gather, reduce_scatter, all_to_all, gather, scatter, barrier
                calls of a collective one after the other; bandwidths as nccl-tests define them
                over shm beside raw loops of the same, and which of them is the fastest
  limits        the first four, without Parley: raw loops over shared memory, and which is the fastest

Examples:
  parley-bench latency
  parley-bench bandwidth --sizes 8:16M --json rows.jsonl
  parley-bench latency --transport shm --rewrite
  parley-bench latency --transport shm,tcp
  parley-bench all_reduce --ranks 4 --transport shm --algo ring
  parley-bench bandwidth --device cuda --sizes 8:1G
  parley-bench limits --ops latency,bandwidth --sizes 64K,1M --rewrite
  parley-run -n 2 parley-bench latency

With --device cuda, a message has come when it is in the receiver's device memory: each receive, and each window of
them, ends when the receiver's stream has done all it was told, and so does each call of a collective. Beside
Parley stand, in the same rounds, copies by one process that waits for an event: within the device, and from and
to pinned memory of the host; over tcp Parley between buffers of the host too.

bench/README.md says how the figures are taken and what the JSON rows mean.
Exit code: 2 wrong usage, or no device where one is asked for; 1 when measuring failed.)";

std::vector<std::string_view> words_for_what() {
  std::vector<std::string_view> words;
  for (const Operation& each : operations) words.push_back(each.name);
  words.push_back(limits_name);
  return words;
}

std::vector<std::string_view> names_with_limits() {
  std::vector<std::string_view> names;
  for (const Operation& each : operations) {
    if (has_limit(each.op)) names.push_back(each.name);
  }
  return names;
}

// What was written, before it is understood.
struct Words {
  std::string op;
  std::string ops;
  std::string ranks;
  std::string transport;
  std::string device;
  std::string path;
  std::string sizes;
  std::string rounds;
  std::string round_ms;
  bool tls = false;
  bool rewrite = false;
  bool read = false;
  bool arena = false;
  bool no_cma = false;
  bool async = false;
  bool by_hand = false;
  bool no_pin = false;
};

class HelpText : public CLI::Formatter {
  std::string make_usage(const CLI::App*, std::string) const override {
    return "Usage: parley-bench OPERATION [OPTIONS]\n";
  }
};

void define(CLI::App& app, Words& words, Options& options) {
  app.footer(footer);
  app.formatter(std::make_shared<HelpText>());
  app.get_formatter()->column_width(20);
  app.add_option("OPERATION", words.op, "What to measure: " + enumerate(words_for_what()))->type_name("");
  const auto add = [&](const char* name, std::string& word, const char* type, const char* meaning) {
    app.add_option(name, word, meaning)->type_name(type);
  };
  add("--ranks", words.ranks, "N",
      "How many processes to start; an even number where pairs of them talk [2]");
  add("--transport", words.transport, "NAME",
      "What carries the messages: tcp, shm, or shm,tcp for both in turns, in one table [tcp; with --device "
      "cuda: shm]");
  add("--device", words.device, "NAME",
      "Where buffers lie: cpu, cuda (each rank uses the device of its local rank, counted round), or a pair "
      "such "
      "as cpu,cuda for the even and the odd ranks [cpu]");
  add("--path", words.path, "NAME",
      "Collectives with --device cuda: nccl, beside Parley's own, or own alone [own]");
  add("--sizes", words.sizes, "SIZES",
      "Bytes of a message or block: a list, or a range that doubles, such as 8:16M [8,1K,64K,1M; "
      "message-rate: 8]");
  add("--json", options.json_file, "FILE", "Append the figures to this file, one JSON object a line");
  add("--rounds", words.rounds, "N", "How often Parley and the raw socket take turns, per size [21]");
  add("--round-ms", words.round_ms, "MS", "About how many milliseconds a turn lasts [10]");
  app.add_flag("--tls", words.tls, "Encrypt Parley's connections, never the raw one; rows say tcp+tls");
  add("--ops", words.ops, "OPS", "limits: which operations, a list [all]");
  app.add_flag("--rewrite", words.rewrite,
               "Write the senders' buffers anew before each exchange, outside the measured time");
  app.add_flag("--read", words.read, "Collectives: read what each call brings, within the measured time");
  app.add_flag("--arena", words.arena,
               "shm: Parley's buffers are shared tensors, and it is held against all loops");
  app.add_flag("--no-cma", words.no_cma, "shm: Parley goes without cross-memory copies");
  app.add_flag("--async", words.async, "Collectives: each call returns at once and is waited for then");
  add("--algo", options.algorithm, "NAME", "Collectives: this algorithm [Parley's choice, which is printed]");
  app.add_flag("--by-hand", words.by_hand,
               "all_reduce of two ranks: beside it the same by isend, irecv and a loop that adds");
  app.add_flag("--no-pin", words.no_pin, "Let the system move the ranks between cores");
}

void understand_sizes(const CLI::App& app, const Words& words, Options& options) {
  if (app.count("--sizes") > 0) {
    options.sizes = options.limits ? sizes_from(words.sizes) : sizes_for(options.op, words.sizes);
  } else if (!options.limits) {
    options.sizes = sizes_for(options.op, options.op == Op::message_rate ? "8" : "8,1K,64K,1M");
  }
  if (options.transport != "shm" || is_collective(options.op)) return;
  for (const std::size_t bytes : options.sizes) {
    if (bytes <= largest_limit_bytes) continue;
    throw CommandLineError("--sizes: shared memory is measured up to " + format_size(largest_limit_bytes) +
                           ", for each pair shares four times that");
  }
}

Op limit_op_from(std::string_view name) {
  const auto found =
      std::find_if(operations.begin(), operations.end(), [&](const auto& each) { return each.name == name; });
  if (found != operations.end() && !has_limit(found->op))
    throw CommandLineError("limits are of messages between two ranks, and " + std::string(name) +
                           " is a collective");
  const auto names = names_with_limits();
  const std::string_view chosen = names[choose("operation", name, names)];
  return std::find_if(operations.begin(), operations.end(),
                      [&](const auto& each) { return each.name == chosen; })
      ->op;
}

// Each operation once, in the order of the list.
std::vector<Op> ops_from(std::string_view list) {
  std::vector<Op> found;
  for (const std::string_view part : parts_of(list)) {
    const Op op = limit_op_from(part);
    if (std::find(found.begin(), found.end(), op) == found.end()) found.push_back(op);
  }
  return found;
}

std::vector<Op> all_ops() {
  std::vector<Op> all;
  for (const std::string_view name : names_with_limits()) all.push_back(limit_op_from(name));
  return all;
}

// The operation, or limits and those options that belong to them alone.
void understand_what(const CLI::App& app, const Words& words, Options& options) {
  if (app.count("OPERATION") == 0) {
    throw CommandLineError("which operation? Write " + enumerate(words_for_what()));
  }
  options.limits = words.op == limits_name;
  if (!options.limits) {
    options.op = operations[choose("operation", words.op, words_for_what())].op;
    if (app.count("--ops") > 0) throw CommandLineError("--ops belongs to limits");
    options.ops = {options.op};
    return;
  }
  for (const char* others : {"--transport", "--tls", "--arena", "--no-cma"}) {
    if (app.count(others) > 0) {
      throw CommandLineError(std::string(others) + ": limits are those of shared memory, without Parley");
    }
  }
  options.transport = "shm";
  options.ops = app.count("--ops") > 0 ? ops_from(words.ops) : all_ops();
}

void understand_path(const CLI::App& app, const Words& words, Options& options) {
  if (app.count("--path") == 0) return;
  constexpr std::array<std::string_view, 2> paths{"own", "nccl"};
  options.nccl = choose("path", words.path, paths) == 1;
  if (!options.devices.has_device() || !is_collective(options.op))
    throw CommandLineError("--path belongs to collectives with --device cuda");
}

// Where the buffers lie, and what goes with that.
void understand_device(const CLI::App& app, const Words& words, Options& options) {
  if (app.count("--device") == 0) return;
  const auto memory = [](std::string_view word) {
    return choose("device", word, memories) == 0 ? Memory::cpu : Memory::cuda;
  };
  const std::string_view list = words.device;
  const std::size_t comma = std::min(list.find(','), list.size());
  options.devices.leaders = memory(list.substr(0, comma));
  options.devices.partners = comma == list.size() ? options.devices.leaders : memory(list.substr(comma + 1));
  if (!options.devices.has_device()) return;
  if (options.limits)
    throw CommandLineError("--device: those limits are measured beside Parley, by an operation's own name");
  if (options.op == Op::barrier) throw CommandLineError("--device: a barrier moves nothing");
  if (options.devices.is_mixed() && is_collective(options.op))
    throw CommandLineError("--device: in a collective all ranks' buffers lie on one kind of device");
  if (words.arena) throw CommandLineError("--arena belongs to buffers of the host");
  if (words.by_hand) throw CommandLineError("--by-hand belongs to buffers of the host");
  options.transport = "shm";
}

// The transport, and what belongs to one of them alone.
void understand_transport(const CLI::App& app, const Words& words, Options& options) {
  if (app.count("--transport") > 0) {
    options.transport = transports[choose("transport", words.transport, transports)];
  }
  const bool is_shared = options.transport == "shm";
  options.two_transports = options.transport == both_transports;
  if (options.two_transports && (words.arena || words.no_cma || words.tls))
    throw CommandLineError("--arena, --no-cma and --tls belong to one transport");
  if (options.two_transports && (is_collective(options.op) || options.devices.has_device()))
    throw CommandLineError("--transport shm,tcp belongs to messages between two ranks, in the host's memory");
  if (words.arena && !is_shared) throw CommandLineError("--arena belongs to shared memory");
  if (words.no_cma && !is_shared) throw CommandLineError("--no-cma belongs to shared memory");
  if (words.tls && is_shared) throw CommandLineError("--tls belongs to tcp");
  options.rewrite = words.rewrite;
  options.arena = words.arena;
  options.no_cma = words.no_cma;
  options.tls = words.tls;
  if (options.tls) options.transport += "+tls";
}

void understand_collective(const CLI::App& app, const Words& words, Options& options) {
  options.async = words.async;
  options.by_hand = words.by_hand;
  options.read = words.read;
  if (options.limits || !is_collective(options.op)) {
    for (const char* of_collectives : {"--async", "--algo", "--by-hand", "--read"}) {
      if (app.count(of_collectives) > 0)
        throw CommandLineError(std::string(of_collectives) + " belongs to collectives");
    }
    return;
  }
  if (options.arena && options.op == Op::barrier) throw CommandLineError("--arena: a barrier moves nothing");
  if (options.async && options.op == Op::barrier) throw CommandLineError("--async: a barrier is never");
  if (options.read && (options.op == Op::barrier || options.devices.has_device()))
    throw CommandLineError("--read belongs to what collectives bring to memory of the host");
  if (options.by_hand && (options.op != Op::all_reduce || options.ranks.value_or(2) != 2))
    throw CommandLineError("--by-hand belongs to all_reduce of two ranks");
}

// Fills in what was written; the rest keeps its default.
void understand(const CLI::App& app, const Words& words, Options& options) {
  understand_what(app, words, options);
  if (app.count("--ranks") > 0) {
    const bool has_pairs = options.limits || !is_collective(options.op);
    options.ranks =
        parse_number("--ranks", words.ranks, has_pairs ? "an even number" : "a whole number", 2, most_ranks);
    check_ranks(options.op, *options.ranks);
  }
  understand_device(app, words, options);
  understand_path(app, words, options);
  understand_transport(app, words, options);
  understand_collective(app, words, options);
  understand_sizes(app, words, options);
  if (app.count("--json") > 0 && options.json_file.empty()) throw CommandLineError("--json: which file?");
  if (app.count("--rounds") > 0) {
    options.rounds = parse_number("--rounds", words.rounds, "a whole number", 1, most_rounds);
  }
  if (app.count("--round-ms") > 0) {
    options.round_ms =
        parse_number("--round-ms", words.round_ms, "milliseconds", least_round_ms, most_round_ms);
  }
  options.pin = !words.no_pin;
}

}  // namespace

std::optional<Options> parse_options(int argc, const char* const* argv) {
  CLI::App app(
      "Measures Parley between pairs of processes (0-1, 2-3, ...), and beside it, in the same run,\n"
      "the limit: a bare TCP socket without a library. Or collectives of all processes.",
      "parley-bench");
  Words words;
  Options options;
  define(app, words, options);
  if (!read_words(app, argc, argv)) return std::nullopt;
  understand(app, words, options);
  return options;
}

}  // namespace parley::bench
