#include "bench/scale/launch.h"

#include <parley/init.h>
#include <parley/launch.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "bench/compare/child.h"
#include "bench/compare/compare.h"
#include "bench/cores.h"
#include "bench/scale/board.h"
#include "bench/scale/stages.h"

namespace parley::bench::scale {
namespace {

constexpr std::chrono::minutes world_patience(5);
constexpr std::chrono::minutes openmpi_patience(2);
constexpr const char* openmpi_program = "peer-openmpi-start";

// Whether ranks are linked to each other by init() alone, where that is not left to the library.
std::map<std::string, std::string> environment_of(Stage stage, const std::string& transport) {
  std::map<std::string, std::string> variables{{"PARLEY_TRANSPORTS", transport}};
  if (stage == Stage::memory || stage == Stage::poll) variables["PARLEY_FULL_MESH_LIMIT"] = "1";
  if (stage == Stage::linked) variables["PARLEY_FULL_MESH_LIMIT"] = std::to_string(largest_full_mesh);
  return variables;
}

void rank_main(Stage stage, int rank, int ranks, Board& board) {
  // Before init(): the library's own thread belongs on its rank's core as well.
  const std::vector<int> cores = usable_cores();
  if (static_cast<std::size_t>(ranks) <= cores.size()) pin_to(core_for(rank, cores));
  ProcessGroup world = init();
  board.note(rank).ready = steady_seconds();
  board.meet();  // nobody leaves while others are still on their way in
  run_stage(stage, world, board);
  destroy();
}

template <typename Value>
double most(const Board& board, Value&& value) {
  double most = 0;
  for (const Note& note : board.notes()) most = std::max(most, static_cast<double>(value(note)));
  return most;
}

double sum_of_rates(const Board& board) {
  double sum = 0;
  for (const Note& note : board.notes()) sum += note.rate;
  return sum;
}

std::vector<std::pair<Quantity, double>> figures_of(Stage stage, const Board& board, double began) {
  const auto memory = [](const Note& note) { return note.use.memory_kib; };
  const auto descriptors = [](const Note& note) { return note.use.descriptors; };
  switch (stage) {
    case Stage::start:
      return {{Quantity::start, 1e3 * (most(board, [](const Note& note) { return note.ready; }) - began)}};
    case Stage::groups: return {{Quantity::groups, board.time(0)}};
    case Stage::store: return {{Quantity::store, sum_of_rates(board)}};
    case Stage::memory:
      return {{Quantity::memory, most(board, memory)}, {Quantity::descriptors, most(board, descriptors)}};
    case Stage::linked:
      return {{Quantity::linked_memory, most(board, memory)},
              {Quantity::linked_descriptors, most(board, descriptors)}};
    case Stage::rate: return {{Quantity::rate, sum_of_rates(board)}};
    case Stage::barrier: return {{Quantity::barrier, board.time(0)}};
    case Stage::all_reduce: return {{Quantity::all_reduce, board.time(0)}};
    case Stage::poll: return {{Quantity::poll_one, board.time(0)}, {Quantity::poll_all, board.time(1)}};
  }
  return {};
}

}  // namespace

std::vector<std::pair<Quantity, double>> measure_world(Stage stage, int ranks, const std::string& transport) {
  if (stage == Stage::linked && ranks > largest_full_mesh) return {};
  Board board(ranks);
  SpawnOptions options;
  options.prefix_output = false;
  options.timeout = world_patience;
  options.environment = environment_of(stage, transport);
  const double began = steady_seconds();
  const int code = spawn(
      ranks, [&](int rank, int) { rank_main(stage, rank, ranks, board); }, options);
  if (code != 0)
    throw std::runtime_error("a world of " + std::to_string(ranks) + " ranks ended with " +
                             std::to_string(code));
  return figures_of(stage, board, began);
}

std::optional<double> measure_openmpi_start(int ranks, std::string& why) {
  const auto program =
      (std::filesystem::path(compare::own_program()).parent_path() / openmpi_program).string();
  const compare::ChildEnd end = compare::run_child({program, std::to_string(ranks)}, openmpi_patience);
  if (end.how == compare::ChildEnd::How::exited && end.code == 0) {
    const double ms = std::strtod(end.output.c_str(), nullptr);
    if (ms > 0) return ms;
  }
  why = end.how == compare::ChildEnd::How::not_started
            ? std::string(openmpi_program) + " is not built here (bench/peers/README.md)"
            : "no start of Open MPI: " + compare::last_words(end.said);
  return std::nullopt;
}

}  // namespace parley::bench::scale
