// peer-openmpi-start RANKS: prints how many milliseconds Open MPI takes to start so many ranks, from the
// start of its launcher to the return of the last rank's MPI_Init(). Started by hand it runs the launcher,
// which starts it again as the ranks.
#include <mpi.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>

#include "bench/cores.h"
#include "bench/peers/launcher.h"

namespace parley::bench {
namespace {

constexpr const char* rank_variable = "OMPI_COMM_WORLD_RANK";

// Of the steady clock, which is one for all processes of the machine.
double now_ms() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

int be_rank(double began_ms) {
  die_with_launcher();
  MPI_Init(nullptr, nullptr);
  const double took_ms = now_ms() - began_ms;
  double longest_ms = 0;
  MPI_Reduce(&took_ms, &longest_ms, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) std::printf("%.3f\n", longest_ms);
  MPI_Finalize();
  return 0;
}

int start_ranks(const char* program, int ranks) {
  PeerOptions options;
  options.ranks = ranks;
  options.transport = "shm";
  const bool oversubscribed = static_cast<std::size_t>(ranks) > usable_cores().size();
  const std::string began_ms = std::to_string(now_ms());
  const std::array<const char*, 2> words = {program, began_ms.c_str()};
  return run_launcher(openmpi_launch(options, {oversubscribed, ::geteuid() == 0}), words.size(),
                      words.data());
}

}  // namespace
}  // namespace parley::bench

int main(int argc, char** argv) {
  using namespace parley::bench;
  try {
    if (argc != 2) throw CommandLineError("write the number of ranks, and nothing else");
    if (std::getenv(rank_variable) != nullptr) return be_rank(std::strtod(argv[1], nullptr));
    return start_ranks(argv[0], parse_number("RANKS", argv[1], "a whole number", 1, most_ranks));
  } catch (const std::exception& error) {
    std::cerr << "peer-openmpi-start: " << error.what() << '\n';
    return 2;
  }
}
