#include "bench/peers/mpi_world.h"

#include <mpi.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace parley::bench {
namespace {

// Apart from the measured messages.
constexpr int tag = 1;

#if defined(MPICH)
// All ranks meet at MPICH's launcher, by a request of the PMI-1 wire protocol, and none makes MPI's progress
// meanwhile. MPI_Finalize() of 4.0.2 over UCX flushes to each rank, which must answer, and then waits without
// progress. A rank still inside MPI_Barrier() would answer one that is ahead before it asks itself, and wait
// for ever for that one's answer; so all leave MPI_Barrier() before one enters MPI_Finalize().
void meet_at_launcher() {
  const char* const number = std::getenv("PMI_FD");
  if (number == nullptr) return;  // started by another launcher
  const int fd = std::atoi(number);
  constexpr std::string_view request = "cmd=barrier_in\n";
  if (::write(fd, request.data(), request.size()) != static_cast<ssize_t>(request.size())) return;
  for (char letter = 0; letter != '\n';) {    // the answer is one line
    if (::read(fd, &letter, 1) <= 0) return;  // the launcher has gone
  }
}
#endif

}  // namespace

MpiWorld::MpiWorld() {
  MPI_Init(nullptr, nullptr);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
}

MpiWorld::~MpiWorld() {
  barrier();
#if defined(MPICH)
  meet_at_launcher();
#endif
  MPI_Finalize();
}

void MpiWorld::barrier() {
  MPI_Barrier(MPI_COMM_WORLD);
}

void MpiWorld::send_bytes(std::span<const std::byte> data, int destination) {
  MPI_Send(data.data(), static_cast<int>(data.size()), MPI_BYTE, destination, tag, MPI_COMM_WORLD);
}

void MpiWorld::recv_bytes(std::span<std::byte> data, int source) {
  MPI_Recv(data.data(), static_cast<int>(data.size()), MPI_BYTE, source, tag, MPI_COMM_WORLD,
           MPI_STATUS_IGNORE);
}

void MpiWorld::abort(int code) {
  MPI_Abort(MPI_COMM_WORLD, code);
  std::abort();
}

}  // namespace parley::bench
