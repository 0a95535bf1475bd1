// peer-openmpi and peer-mpich: the same source, built against the one library and the other. Started by hand,
// the program runs its library's launcher; started by that, or by any launcher of that library, it is a
// rank.
#include <mpi.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "bench/cores.h"
#include "bench/peers/launcher.h"
#include "bench/peers/mpi_collective.h"
#include "bench/peers/mpi_system.h"
#include "bench/peers/mpi_world.h"
#include "bench/peers/peer_rank.h"

namespace parley::bench {
namespace {

constexpr std::array<std::string_view, 2> transports = {"shm", "tcp"};

// The first of the library's words about itself: "Open MPI v4.1.4", "MPICH Version: 4.0.2".
std::string version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> words{};
  int length = 0;
  MPI_Get_library_version(words.data(), &length);  // may be asked before MPI_Init()
  std::istringstream all(std::string(words.data(), static_cast<std::size_t>(length)));
  std::string line;
  std::getline(all, line);
  std::istringstream first(line.substr(0, line.find(',')));
  std::string text;
  for (std::string word; first >> word;) text += (text.empty() ? "" : " ") + word;
  return text;
}

#if defined(OPEN_MPI)
constexpr PeerProgram program{"peer-openmpi", "Open MPI", transports, version};
constexpr const char* system_name = "openmpi";
constexpr const char* rank_variable = "OMPI_COMM_WORLD_RANK";
constexpr const char* size_variable = "OMPI_COMM_WORLD_SIZE";
constexpr auto launch_for = openmpi_launch;
#else
constexpr PeerProgram program{"peer-mpich", "MPICH", transports, version};
constexpr const char* system_name = "mpich";
constexpr const char* rank_variable = "PMI_RANK";
constexpr const char* size_variable = "PMI_SIZE";
constexpr auto launch_for = mpich_launch;
#endif

class MpiPeer final : public Library {
 public:
  explicit MpiPeer(MpiWorld& world) : world_(world) {}

  World& world() override { return world_; }
  std::vector<Contender> pair_contenders(const Stage& stage, int partner, Buffers& buffers,
                                         const Plan& plan) override {
    return {make_pair_contender<MpiSystem>(system_name, stage, buffers, partner, buffers, plan)};
  }
  std::vector<Contender> collective_contenders(const Stage& stage, CollectiveBuffers& buffers) override {
    return {make_collective_contender<MpiCollective>(system_name, stage, buffers, buffers)};
  }

 private:
  MpiWorld& world_;
};

// A number that the launcher has set.
int launched(const char* variable) {
  const char* const word = std::getenv(variable);
  if (word == nullptr)
    throw CommandLineError(std::string(variable) + " is not set, as a launcher would have");
  return parse_number(variable, word, "a whole number", 0, most_ranks);
}

int be_rank(const PeerOptions& options) {
  die_with_launcher();
  const int rank = launched(rank_variable);
  if (launched(size_variable) != options.ranks) {
    throw CommandLineError("--ranks " + std::to_string(options.ranks) + ", but the launcher has started " +
                           std::getenv(size_variable));
  }
  std::unique_ptr<MpiWorld> world;
  try {
    peer_rank(program, options, rank, [&] {
      world = std::make_unique<MpiWorld>();
      return std::make_unique<MpiPeer>(*world);
    });
  } catch (const std::exception& error) {
    if (world == nullptr) throw;
    // A rank cannot leave MPI on its own: it ends them all.
    std::cerr << program.name << ": rank " << rank << ": " << error.what() << std::endl;
    MpiWorld::abort(1);
  }
  return 0;
}

}  // namespace
}  // namespace parley::bench

int main(int argc, char** argv) {
  using namespace parley::bench;
  return peer_main(program, argc, argv, [&](const PeerOptions& options) {
    if (std::getenv(rank_variable) != nullptr) return be_rank(options);
    const bool oversubscribed = static_cast<std::size_t>(options.ranks) > usable_cores().size();
    return run_launcher(launch_for(options, {oversubscribed, ::geteuid() == 0}), argc, argv);
  });
}
