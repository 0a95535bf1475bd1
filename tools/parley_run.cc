// parley-run: starts a program once per rank and supervises the processes. All it does is in api/launch.

#include <fcntl.h>
#include <parley/error.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/launch/environment.h"
#include "api/launch/node_place.h"
#include "api/launch/program.h"
#include "api/launch/signal_source.h"
#include "api/launch/supervisor.h"
#include "transport/base/env.h"

namespace {

constexpr int exit_usage = 2;
constexpr int exit_launcher_failed = 1;
constexpr int most_ranks = 100'000;
constexpr int most_nodes = 10'000;

constexpr const char* footer = R"(Examples:
  parley-run -n 4 build/bin/chain
      four ranks; every line of theirs begins with its rank
  parley-run -n 8 --timeout 10m --log-dir logs --env PARLEY_DEBUG=info -- ./solve --input mesh.bin
      eight ranks, at most ten minutes; rank N also writes logs/rank-N.out and logs/rank-N.err
  parley-run --nnodes 2 --node-rank 0 --rendezvous node-a:29500 -n 4 ./solve     on node-a, and
  parley-run --nnodes 2 --node-rank 1 --rendezvous node-a:29500 -n 4 ./solve     on node-b: eight ranks

Exit code: that of the first rank that failed, or 128 + the signal that ended it; 124 after --timeout;
2 wrong usage; 126 the program cannot be executed; 127 it was not found; 1 the job could not be started, or
another node's parley-run is gone. On several nodes each exits with the code of the job.

Several nodes need the same secret: PARLEY_SECRET_FILE, PARLEY_SECRET, or the cookie
file in a home folder that they share.)";

struct CommandLine {
  int ranks = 0;
  int nodes = 1;
  int node = -1;
  std::string rendezvous;
  bool no_prefix = false;
  std::string log_dir;
  std::string timeout;
  std::vector<std::string> environment;
  std::vector<std::string> program;
};

class HelpText : public CLI::Formatter {
  std::string make_usage(const CLI::App*, std::string) const override {
    return "Usage: parley-run -n RANKS [OPTIONS] [--] PROGRAM [ARGUMENTS...]\n";
  }
};

void define(CLI::App& app, CommandLine& line) {
  app.footer(footer);
  app.set_version_flag("--version", "parley-run " PARLEY_VERSION);
  app.formatter(std::make_shared<HelpText>());
  app.add_option("-n,--ranks", line.ranks, "How many processes to start, on this node if there are several")
      ->required()
      ->type_name("N")
      ->check(CLI::Range(1, most_ranks).description(""));
  app.add_option("--nnodes", line.nodes, "On how many nodes parley-run is started for this job")
      ->type_name("N")
      ->check(CLI::Range(1, most_nodes).description(""));
  app.add_option("--node-rank", line.node, "Which of them this is; their ranks are numbered node by node")
      ->type_name("K")
      ->check(CLI::Range(0, most_nodes).description(""));
  app.add_option("--rendezvous", line.rendezvous, "An address of node 0 and a free port there, for the store")
      ->type_name("HOST:PORT");
  app.add_option("--log-dir", line.log_dir, "Also write rank-N.out and rank-N.err into this folder")
      ->type_name("FOLDER");
  app.add_option("--timeout", line.timeout, "End the job after this time: 90s, 30m, 2h, plain seconds, none")
      ->type_name("TIME");
  app.add_option("--env", line.environment, "Set a variable for every rank (repeatable)")
      ->type_name("NAME=VALUE")
      ->take_all()
      ->allow_extra_args(false);
  app.add_flag("--no-prefix", line.no_prefix, "Do not put [rank] before the lines");
  // The first word that is no option of ours is the program; all that follows belongs to it.
  app.prefix_command();
}

// The place among several nodes; the reason when the options do not fit together.
std::optional<std::string> fill_nodes(parley::launch::Job& job, const CommandLine& line) {
  if (line.nodes == 1) {
    if (line.node > 0 || !line.rendezvous.empty())
      return "--node-rank and --rendezvous need --nnodes above 1";
    return std::nullopt;
  }
  if (line.node < 0 || line.rendezvous.empty())
    return "--nnodes " + std::to_string(line.nodes) + " needs --node-rank and --rendezvous";
  if (line.node >= line.nodes)
    return "--node-rank " + std::to_string(line.node) + " is out of range: 0 to " +
           std::to_string(line.nodes - 1);
  const auto where = parley::launch::parse_rendezvous(line.rendezvous);
  if (!where)
    return "--rendezvous " + line.rendezvous +
           " is not HOST:PORT; an IPv6 address stands in brackets: [fd00::1]:29500";
  job.nodes.emplace();
  job.nodes->count = line.nodes;
  job.nodes->number = line.node;
  job.nodes->host = where->host;
  job.nodes->port = where->port;
  if (const auto patience = parley::base::env_duration("PARLEY_INIT_TIMEOUT"))
    job.nodes->patience = *patience;
  return std::nullopt;
}

// Fills the job from the command line; the reason when that does not work.
std::optional<std::string> fill(parley::launch::Job& job, const CommandLine& line) {
  job.ranks = line.ranks;
  job.program = line.program.front();
  job.output.prefix = !line.no_prefix;
  job.output.log_dir = line.log_dir;
  if (!line.timeout.empty()) {
    const auto timeout = parley::base::parse_duration(line.timeout);
    if (!timeout) return "--timeout " + line.timeout + " is not a duration: write 90s, 30m, 2h or none";
    job.timeout = *timeout;
  }
  for (const std::string& setting : line.environment) {
    const std::size_t equals = setting.find('=');
    if (equals == 0 || equals == std::string::npos) return "--env " + setting + " is not NAME=VALUE";
    const std::string name = setting.substr(0, equals);
    if (const auto complaint = parley::launch::complaint_about(name))
      return "--env " + name + ": " + *complaint;
    job.environment[name] = setting.substr(equals + 1);
  }
  return fill_nodes(job, line);
}

int usage_error(const std::string& what) {
  std::fprintf(stderr, "parley-run: %s\nRun parley-run --help for more.\n", what.c_str());
  return exit_usage;
}

int launch(const CommandLine& line) {
  parley::launch::Job job;
  if (const auto mistake = fill(job, line)) return usage_error(*mistake);
  const auto program = parley::launch::find_program(line.program.front());
  if (program.path.empty()) {
    std::fprintf(stderr, "parley-run: %s: %s\n", line.program.front().c_str(), program.reason.c_str());
    return program.exit_code;
  }
  if (job.nodes) {
    auto found = parley::launch::find_node_secret();
    if (!found.remark.empty()) std::fprintf(stderr, "parley-run: %s\n", found.remark.c_str());
    job.nodes->secret = std::move(found.secret);
  }
  parley::launch::SignalSource signals;
  job.signals = &signals;
  return parley::launch::run_job(
      job, [&](int) { return parley::launch::become_program(program.path, line.program); });
}

// With 0, 1 or 2 closed the next file opened would get that number and be written to by mistake.
void open_standard_descriptors() {
  int fd = 0;
  while (fd >= 0 && fd <= STDERR_FILENO) fd = open("/dev/null", O_RDWR);
  if (fd > STDERR_FILENO) close(fd);
}

}  // namespace

int main(int argc, char** argv) {
  open_standard_descriptors();
  CLI::App app("Starts a program once per rank, so that the processes find each other with parley::init().",
               "parley-run");
  CommandLine line;
  define(app, line);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& request) {
    return app.exit(request);  // --help, --version
  } catch (const CLI::ParseError& error) {
    return usage_error(error.what());
  }
  line.program = app.remaining();
  const bool separated = !line.program.empty() && line.program.front() == "--";
  if (separated) line.program.erase(line.program.begin());
  if (line.program.empty()) return usage_error("which program?");
  if (!separated && line.program.front().starts_with('-'))
    return usage_error("there is no option " + line.program.front());
  try {
    return launch(line);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "parley-run: %s\n", error.what());
    return exit_launcher_failed;
  }
}
