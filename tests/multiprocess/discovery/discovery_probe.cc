// A rank that finds the others by what its launcher has told it, sends its number once round the ring, says
// what it got and leaves.

#include <parley/parley.h>

#include <cstdio>
#include <exception>
#include <span>

int main() {
  try {
    parley::ProcessGroup world = parley::init();
    const int rank = world.rank();
    const int next = (rank + 1) % world.size();
    const int previous = (rank + world.size() - 1) % world.size();
    int got = -1;
    world.sendrecv(std::span(&rank, 1), next, std::span(&got, 1), previous);
    world.barrier();
    std::printf("rank %d of %d, local rank %d, got %d\n", rank, world.size(), world.local_rank(), got);
    std::fflush(stdout);
    parley::destroy();
    return got == previous ? 0 : 1;
  } catch (const std::exception& error) {
    std::printf("error: %s\n", error.what());
    return 3;
  }
}
