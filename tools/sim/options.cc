#include "tools/sim/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <limits>

#include "api/schedule/names.h"
#include "tools/sim/quantity.h"

namespace parley::sim {
namespace {

constexpr std::uint64_t most_ranks = 1 << 20;
constexpr std::uint64_t most_rails = 1024;

// What CLI11 stores as it was written.
struct Texts {
  std::string op = "all_reduce", ranks = "8:1K", bytes = "8:16M", element = "4", algorithms;
  std::string hosts, per_host, rails = "1", rack;
  std::string alpha, beta, overhead, near_alpha, near_beta, near_overhead, uplink_alpha, gamma;
  std::vector<std::string> stragglers;
  std::string lose, most_steps = "12M";
};

void declare(CLI::App& app, Texts& texts, Options& options) {
  app.set_help_flag();
  app.add_flag("-h,--help", options.wants_help);
  app.add_flag("--version", options.wants_version);
  app.add_option("--op", texts.op);
  app.add_option("--ranks", texts.ranks);
  app.add_option("--bytes", texts.bytes);
  app.add_option("--element", texts.element);
  app.add_option("--algorithms", texts.algorithms);
  app.add_flag("--shared-tensors", options.lends);
  app.add_option("--hosts", texts.hosts);
  app.add_option("--per-host", texts.per_host);
  app.add_option("--rails", texts.rails);
  app.add_option("--rack", texts.rack);
  app.add_option("--alpha", texts.alpha);
  app.add_option("--beta", texts.beta);
  app.add_option("--overhead", texts.overhead);
  app.add_option("--near-alpha", texts.near_alpha);
  app.add_option("--near-beta", texts.near_beta);
  app.add_option("--near-overhead", texts.near_overhead);
  app.add_option("--uplink-alpha", texts.uplink_alpha);
  app.add_option("--gamma", texts.gamma);
  app.add_option("--calibrate", options.calibrate);
  app.add_option("--straggler", texts.stragglers)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--lose", texts.lose);
  app.add_option("--most-steps", texts.most_steps);
  app.add_option("--json", options.json);
  app.add_option("--html", options.html);
  app.add_option("--svg", options.svg);
  app.add_flag("--all", options.shows_all);
  app.add_flag("--quiet", options.is_quiet);
}

std::vector<schedule::Algorithm> parse_algorithms(schedule::Operation operation, const std::string& text) {
  std::vector<schedule::Algorithm> found;
  for (std::size_t begin = 0; !text.empty() && begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string name = text.substr(begin, end - begin);
    const auto algorithm = schedule::find_algorithm(name);
    if (!algorithm || !schedule::has_algorithm(operation, *algorithm))
      throw UsageError(fmt::format("--algorithms {}: {} has {}", name, schedule::name(operation),
                                   schedule::list_algorithms(operation)));
    found.push_back(*algorithm);
    begin = end + 1;
  }
  return found;
}

std::uint32_t parse_host(std::string_view option, const std::string& text) {
  std::uint32_t host = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), host);
  if (error != std::errc() || end != text.data() + text.size())
    throw UsageError(fmt::format("{} {}: is no host: write its number, from 0", option, text));
  return host;
}

// What CLI11 says of an option without its value means something to it only.
std::string readable(std::string what) {
  std::replace(what.begin(), what.end(), '\n', ' ');
  constexpr std::string_view missing = ": 1 required TEXT missing";
  if (what.ends_with(missing))
    what.replace(what.size() - missing.size(), missing.size(), ": its value is missing");
  return what;
}

void parse_rack(const std::string& text, Options& options) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  // More are one rack, too.
  options.hosts_per_rack =
      std::min(parse_count("--rack", std::string_view(text).substr(0, colon)), most_ranks);
  if (colon < text.size())
    options.oversubscription = parse_factor("--rack", std::string_view(text).substr(colon + 1));
}

void parse_network(const Texts& texts, Options& options) {
  if (!texts.hosts.empty() && !texts.per_host.empty())
    throw UsageError("--hosts and --per-host say the same thing twice: give one of them");
  if (!texts.hosts.empty()) options.hosts = parse_count("--hosts", texts.hosts);
  if (!texts.per_host.empty()) options.ranks_per_host = parse_count("--per-host", texts.per_host);
  options.rails = parse_count("--rails", texts.rails);
  if (options.rails > most_rails)
    throw UsageError(fmt::format("--rails {}: a host has at most {}", texts.rails, most_rails));
  if (!texts.rack.empty()) parse_rack(texts.rack, options);
}

void parse_prices(const Texts& texts, Options& options) {
  const auto duration = [](const char* option, const std::string& text, std::optional<double>& ns) {
    if (!text.empty()) ns = parse_duration_ns(option, text);
  };
  const auto byte = [](const char* option, const std::string& text, std::optional<double>& ns) {
    if (!text.empty()) ns = parse_byte_ns(option, text);
  };
  duration("--alpha", texts.alpha, options.far.latency_ns);
  duration("--overhead", texts.overhead, options.far.message_ns);
  byte("--beta", texts.beta, options.far.byte_ns);
  duration("--near-alpha", texts.near_alpha, options.near.latency_ns);
  duration("--near-overhead", texts.near_overhead, options.near.message_ns);
  byte("--near-beta", texts.near_beta, options.near.byte_ns);
  duration("--uplink-alpha", texts.uplink_alpha, options.uplink_ns);
  byte("--gamma", texts.gamma, options.fold_byte_ns);
}

void interpret(const Texts& texts, Options& options) {
  const auto operation = schedule::find_operation(texts.op);
  if (!operation)
    throw UsageError(fmt::format("--op {}: is none of {}", texts.op, schedule::list_operations()));
  options.operation = *operation;
  options.ranks = parse_counts("--ranks", texts.ranks);
  for (const std::uint64_t ranks : options.ranks)
    if (ranks > most_ranks)
      throw UsageError(fmt::format("--ranks {}: at most {} can be looked at", ranks, most_ranks));
  options.bytes = parse_counts("--bytes", texts.bytes);
  options.element_bytes = parse_count("--element", texts.element);
  options.only = parse_algorithms(options.operation, texts.algorithms);
  parse_network(texts, options);
  parse_prices(texts, options);
  for (const std::string& text : texts.stragglers) add_straggler(options.trouble, text);
  if (!texts.lose.empty()) options.trouble.lost_host = parse_host("--lose", texts.lose);
  options.most_steps = parse_count("--most-steps", texts.most_steps);
}

void put(const Options::TierPrices& prices, Tier& tier) {
  if (prices.message_ns) tier.message_ns = *prices.message_ns;
  for (Piece& piece : tier.pieces) {
    if (prices.latency_ns) piece.latency_ns = *prices.latency_ns;
    if (prices.byte_ns) {
      piece.byte_ns = *prices.byte_ns;
      piece.core_byte_ns = 0;
    }
  }
}

std::uint64_t ranks_per_host(const Options& options, std::uint64_t ranks) {
  if (options.hosts) {
    const std::uint64_t hosts = std::min(*options.hosts, ranks);
    if (ranks % hosts != 0)
      throw UsageError(fmt::format("--hosts {}: {} ranks cannot be spread evenly over them", hosts, ranks));
    return ranks / hosts;
  }
  return std::min(options.ranks_per_host.value_or(1), ranks);
}

}  // namespace

Options parse_options(int argc, const char* const* argv) {
  Options options;
  for (int i = 0; i < argc; ++i)
    options.command += (i > 0 ? " " : "") + std::string(i > 0 ? argv[i] : "parley-sim");
  Texts texts;
  CLI::App app;
  declare(app, texts, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    throw UsageError(readable(error.what()));
  }
  if (!options.wants_help && !options.wants_version) interpret(texts, options);
  return options;
}

Model with_prices(Model model, const Options& options) {
  put(options.near, model.near);
  put(options.far, model.far);
  if (options.uplink_ns) model.uplink_ns = *options.uplink_ns;
  if (options.fold_byte_ns) {
    model.fold_byte_ns = *options.fold_byte_ns;
    for (SharedPiece& piece : model.shared) piece.fold_byte_ns = *options.fold_byte_ns;
  }
  return model;
}

Setting setting_for(const Options& options, const Model& model, std::uint64_t ranks) {
  Setting setting;
  setting.model = model;
  setting.most_steps = options.most_steps;
  setting.network = {.ranks = static_cast<std::uint32_t>(ranks),
                     .ranks_per_host = static_cast<std::uint32_t>(ranks_per_host(options, ranks)),
                     .rails = static_cast<std::uint32_t>(options.rails),
                     .hosts_per_rack = static_cast<std::uint32_t>(options.hosts_per_rack),
                     .oversubscription = options.oversubscription,
                     .rail_byte_ns = model.far.least_byte_ns()};
  return setting;
}

}  // namespace parley::sim
