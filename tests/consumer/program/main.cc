#include <parley/parley.h>

#include <iostream>
#include <vector>

int main() {
  parley::ProcessGroup world = parley::init();  // finds the other processes
  std::vector<float> data(1024, 1.0f);
  if (world.rank() == 0) {
    for (int rank = 1; rank < world.size(); ++rank) world.send(data, rank, {.tag = 7});
    for (int rank = 1; rank < world.size(); ++rank) {
      parley::RecvStatus status = world.recv(data, parley::any_source);
      std::cout << "rank " << status.source << " answered " << status.bytes << " bytes\n";
    }
  } else {
    world.recv(data, 0, {.tag = 7});
    for (float& x : data) x += static_cast<float>(world.rank());
    world.send(data, 0);
  }
}
