#include "bench/compare/compare_options.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <set>
#include <sstream>
#include <string_view>

#include "bench/choice.h"
#include "bench/options.h"
#include "bench/sizes.h"

namespace parley::bench::compare {
namespace {

constexpr std::array<std::string_view, 3> peer_names = {"openmpi", "mpich", "gloo"};
constexpr std::array<std::string_view, 4> peer_words = {"openmpi", "mpich", "gloo", "raw"};
constexpr std::array<std::string_view, 2> transports = {"shm", "tcp"};
constexpr std::array<std::string_view, 2> buffer_words = {"kept", "rewritten"};

constexpr int most_compared_ranks = 64;
constexpr int most_compared_rounds = 1000;

// What was written, before it is understood.
struct Words {
  std::string ops;
  std::string ranks;
  std::string transport;
  std::string buffers;
  std::string sizes;
  std::string peers;
  std::vector<std::string> programs;
  std::string rounds;
  std::string minutes;
  std::string tolerance;
  std::string at_most;
};

void define(CLI::App& app, Words& words, CompareOptions& options) {
  app.set_help_flag();
  app.add_option("--ops", words.ops);
  app.add_option("--ranks", words.ranks);
  app.add_option("--transport", words.transport);
  app.add_option("--buffers", words.buffers);
  app.add_flag("--arena", options.arena);
  app.add_option("--sizes", words.sizes);
  app.add_option("--peers", words.peers);
  app.add_option("--peer", words.programs)->allow_extra_args(false);
  app.add_option("--parley", options.parley);
  app.add_option("--rounds", words.rounds);
  app.add_option("--minutes", words.minutes);
  app.add_option("--json", options.json_file);
  app.add_option("--csv", options.csv_file);
  app.add_option("--html", options.html_file);
  app.add_option("--svg", options.svg_folder);
  app.add_option("--compare", options.base_file);
  app.add_option("--tolerance", words.tolerance);
  app.add_option("--at-most", words.at_most);
  app.add_flag("--quiet", options.quiet);
}

template <typename Number>
Number parse_number(const char* option, std::string_view word, Number least, Number most) {
  Number number{};
  const char* const end = word.data() + word.size();
  const auto [rest, error] = std::from_chars(word.data(), end, number);
  if (error == std::errc{} && rest == end && number >= least && number <= most) return number;
  std::ostringstream text;
  text << option << " '" << word << "': write a number from " << least << " to " << most;
  throw CommandLineError(text.str());
}

// Each once, in the order of the list.
template <typename Value>
void add_once(std::vector<Value>& to, Value value) {
  if (std::find(to.begin(), to.end(), value) == to.end()) to.push_back(std::move(value));
}

std::vector<std::string> chosen(const char* what, const std::string& list,
                                std::span<const std::string_view> names) {
  std::vector<std::string> found;
  for (const std::string_view word : parts_of(list))
    add_once(found, std::string(names[choose(what, word, names)]));
  return found;
}

void understand_peers(const CLI::App& app, const Words& words, CompareOptions& options) {
  if (app.count("--peers") > 0) {
    options.peers = chosen("peer", words.peers, peer_words);
    options.raw = std::erase(*options.peers, "raw") > 0;
  }
  for (const std::string& program : words.programs) {
    const std::size_t equals = program.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == program.size())
      throw CommandLineError("--peer '" + program + "': write NAME=PROGRAM");
    const std::string name = program.substr(0, equals);
    if (name == "parley" || name == "raw")
      throw CommandLineError("--peer '" + program + "': " + name + " is what peers are compared with");
    options.programs.emplace_back(name, program.substr(equals + 1));
  }
}

void understand_cases(const CLI::App& app, const Words& words, CompareOptions& options) {
  if (app.count("--ops") > 0) options.ops = chosen("operation", words.ops, operation_names());
  if (app.count("--transport") > 0) options.transports = chosen("transport", words.transport, transports);
  if (app.count("--ranks") > 0) {
    options.ranks.clear();
    for (const std::string_view word : parts_of(words.ranks))
      add_once(options.ranks, parse_number("--ranks", word, 2, most_compared_ranks));
  }
  if (app.count("--buffers") > 0) {
    options.rewritten.clear();
    for (const std::string& word : chosen("kind of buffers", words.buffers, buffer_words))
      options.rewritten.push_back(word == "rewritten");
  }
  if (app.count("--sizes") == 0) return;
  try {
    options.sizes = parse_sizes(words.sizes);
  } catch (const std::invalid_argument& error) {
    throw CommandLineError(std::string("--sizes: ") + error.what());
  }
}

void understand(const CLI::App& app, const Words& words, CompareOptions& options) {
  understand_cases(app, words, options);
  understand_peers(app, words, options);
  if (app.count("--rounds") > 0)
    options.rounds = parse_number("--rounds", words.rounds, 1, most_compared_rounds);
  if (app.count("--minutes") > 0) options.minutes = parse_number("--minutes", words.minutes, 0.1, 1440.0);
  if (app.count("--tolerance") > 0)
    options.tolerance = parse_number("--tolerance", words.tolerance, 0.0, 1000.0) / 100;
  if (app.count("--at-most") > 0) options.at_most = parse_number("--at-most", words.at_most, 1.0, 1e6);
}

bool wants_help(const std::vector<std::string>& arguments) {
  return std::any_of(arguments.begin(), arguments.end(),
                     [](const std::string& word) { return word == "--help" || word == "-h"; });
}

bool is_program(const std::string& path) {
  return ::access(path.c_str(), X_OK) == 0;
}

// Rows of two systems of one name could not be told apart.
void refuse_one_name_twice(const std::vector<Contender>& contenders) {
  std::set<std::string_view> names;
  for (const Contender& contender : contenders) {
    if (names.insert(contender.name).second) continue;
    throw CommandLineError("--peer " + contender.name + "=" + contender.program + ": there is a peer " +
                           contender.name + " already; give this one another name");
  }
}

std::string peer_program(const std::string& folder, std::string_view name) {
  return folder + "/peer-" + std::string(name);
}

}  // namespace

std::vector<std::string> compare_option_names() {
  CLI::App app;
  Words words;
  CompareOptions options;
  define(app, words, options);
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) names.push_back(option->get_name());
  return names;
}

std::optional<CompareOptions> parse_compare_options(const std::vector<std::string>& arguments) {
  if (wants_help(arguments)) return std::nullopt;
  CLI::App app;
  Words words;
  CompareOptions options;
  define(app, words, options);
  try {
    // CLI11 takes them from the end.
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::ArgumentMismatch& error) {
    const std::string_view text = error.what();
    throw CommandLineError(std::string(text.substr(0, text.find(':'))) + " takes exactly one value");
  } catch (const CLI::ParseError& error) {
    throw CommandLineError(error.what());
  }
  understand(app, words, options);
  return options;
}

std::vector<Contender> contenders_of(const CompareOptions& options, const std::string& own_program) {
  const std::string folder = std::filesystem::path(own_program).parent_path().string();
  std::vector<Contender> contenders{{"parley", options.parley.empty() ? own_program : options.parley}};
  for (const std::string_view name : peer_names) {
    const std::string program = peer_program(folder, name);
    const bool is_asked_for = options.peers && std::find(options.peers->begin(), options.peers->end(),
                                                         name) != options.peers->end();
    if (is_asked_for && !is_program(program))
      throw CommandLineError("there is no " + program +
                             ": its packages were missing when parley-bench was built "
                             "(bench/peers/README.md)");
    if (is_asked_for || (!options.peers && is_program(program)))
      contenders.push_back({std::string(name), program});
  }
  for (const auto& [name, program] : options.programs) contenders.push_back({name, program});
  refuse_one_name_twice(contenders);
  for (const Contender& contender : contenders) {
    if (!is_program(contender.program))
      throw CommandLineError(contender.name + ": " + contender.program +
                             " is no program that can be started");
  }
  return contenders;
}

std::vector<Case> cases_of(const CompareOptions& options) {
  std::vector<Case> cases;
  for (const std::string& op : options.ops) {
    for (const std::string& transport : options.transports) {
      for (const int ranks : options.ranks) {
        for (const bool rewritten : options.rewritten) {
          // Nothing is sent that could be written anew.
          if (rewritten && !operation(op).has_sizes && options.rewritten.size() > 1) continue;
          const bool arena = options.arena && transport == "shm" && operation(op).has_sizes;
          cases.push_back({op, transport, ranks, rewritten, arena});
        }
      }
    }
  }
  return cases;
}

}  // namespace parley::bench::compare
