#include "bench/peers/mpi_collective.h"

#include <mpi.h>

namespace parley::bench {

MpiCollective::MpiCollective(CollectiveBuffers& buffers)
    : buffers_(buffers),
      out_(buffers.out().data()),
      in_(buffers.in().data()),
      count_(static_cast<int>(buffers.count())) {}

void MpiCollective::call(int root) {
  const MPI_Comm world = MPI_COMM_WORLD;
  switch (buffers_.op()) {
    case Op::broadcast:
      MPI_Bcast(root == buffers_.rank() ? out_ : in_, count_, MPI_FLOAT, root, world);
      break;
    case Op::reduce: MPI_Reduce(out_, in_, count_, MPI_FLOAT, MPI_SUM, root, world); break;
    case Op::all_reduce: MPI_Allreduce(out_, in_, count_, MPI_FLOAT, MPI_SUM, world); break;
    case Op::all_gather: MPI_Allgather(out_, count_, MPI_FLOAT, in_, count_, MPI_FLOAT, world); break;
    case Op::reduce_scatter: MPI_Reduce_scatter_block(out_, in_, count_, MPI_FLOAT, MPI_SUM, world); break;
    case Op::all_to_all: MPI_Alltoall(out_, count_, MPI_FLOAT, in_, count_, MPI_FLOAT, world); break;
    case Op::gather: MPI_Gather(out_, count_, MPI_FLOAT, in_, count_, MPI_FLOAT, root, world); break;
    case Op::scatter: MPI_Scatter(out_, count_, MPI_FLOAT, in_, count_, MPI_FLOAT, root, world); break;
    default: MPI_Barrier(world); break;
  }
}

}  // namespace parley::bench
