// A value travels through a chain of processes: rank 0 starts with 42, every later rank adds 10 and passes it
// on.
//
//   Rank 0 --42--> Rank 1 --52--> Rank 2 --62--> Rank 3
//                  +10            +10            +10 = 72
//
// No rank waits for one that waits for it: the first only sends, the last only receives, and the others
// receive first. --show-deadlock shows what happens when two ranks do it the other way round.

#include <parley/parley.h>

#include <cstdio>

#include "api/examples/start.h"

namespace {

constexpr double first_value = 42;
constexpr double step = 10;

void chain(parley::ProcessGroup& world, parley::Device device) {
  const int rank = world.rank();
  const int last = world.size() - 1;
  const parley::Tensor tensor = parley::Tensor::zeros({1}, parley::DType::f32, device);

  if (rank == 0) {
    set_value(tensor, first_value);
    std::printf("[Rank 0] Starting chain with value: %.1f\n", value_of(tensor));
  } else {
    world.recv(tensor, rank - 1);
    std::printf("[Rank %d] Received: %.1f\n", rank, value_of(tensor));
    set_value(tensor, value_of(tensor) + step);
    std::printf("[Rank %d] After adding 10: %.1f\n", rank, value_of(tensor));
  }

  if (rank < last) {
    world.send(tensor, rank + 1);
    std::printf("[Rank %d] Sent to rank %d\n", rank, rank + 1);
  } else {
    std::printf("[Rank %d] Final value: %.1f, expected: %.1f\n", rank, value_of(tensor),
                first_value + step * last);
  }
}

// Both ranks send first. A synchronous send returns when the other rank receives, and neither gets that far.
void send_first(parley::ProcessGroup& world, double mine) {
  const int other = 1 - world.rank();
  world.send(mine, other, {.synchronous = true});
  world.recv<double>(other);
}

// One sends while the other receives, then the other way round.
double take_turns(parley::ProcessGroup& world, double mine) {
  const int other = 1 - world.rank();
  if (world.rank() == 0) {
    world.send(mine, other, {.tag = 1, .synchronous = true});
    return world.recv<double>(other, {.tag = 1});
  }
  const double theirs = world.recv<double>(other, {.tag = 1});
  world.send(mine, other, {.tag = 1, .synchronous = true});
  return theirs;
}

void show_deadlock(parley::ProcessGroup& world, parley::Device) {
  const int rank = world.rank();
  if (rank > 1) return;  // two are enough
  const double mine = first_value + rank;

  std::printf("[Rank %d] Both send first, and wait (about 10 s) ...\n", rank);
  std::fflush(stdout);
  try {
    send_first(world, mine);
  } catch (const parley::DeadlockError& error) {
    std::printf("[Rank %d] %s\n", rank, error.what());
  }

  const double theirs = take_turns(world, mine);
  std::printf("[Rank %d] Taking turns: sent %.1f, received %.1f\n", rank, mine, theirs);
}

}  // namespace

int main(int argc, char** argv) {
  Options options{.world_size = 4};
  bool deadlock = false;
  if (const auto exit_code = read_options(
          options, argc, argv, "Passes a value through a chain of processes.",
          {{"--show-deadlock", "Two ranks send to each other first, and are told so", deadlock}}))
    return *exit_code;
  if (!deadlock) return start(options, chain);
  options.world_size = 2;
  return start(options, show_deadlock);
}
