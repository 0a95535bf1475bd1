// A rank that says which ranks of the world are on its host: "host: 2 3 4".
#include <parley/parley.h>

#include <cstdio>
#include <span>
#include <string>

int main() {
  parley::ProcessGroup world = parley::init();
  parley::ProcessGroup host = world.split_by_host();
  std::string line = "host:";
  for (int rank = 0; rank < host.size(); ++rank) line += ' ' + std::to_string(host.global_rank(rank));
  std::printf("%s\n", line.c_str());
  int sum = 1;
  host.all_reduce(parley::Tensor(std::span(&sum, 1)));
  world.barrier();
  return sum == host.size() ? 0 : 1;
}
