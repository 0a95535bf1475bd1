#include "bench/peers/mpi_world.h"

#include <mpi.h>

#include <cstdlib>

namespace parley::bench {
namespace {

// Apart from the measured messages.
constexpr int tag = 1;

}  // namespace

MpiWorld::MpiWorld() {
  MPI_Init(nullptr, nullptr);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
}

MpiWorld::~MpiWorld() {
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
