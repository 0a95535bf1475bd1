// Some of the ranks make a group, and talk by their ranks in it:
//
//   world:   0   1  [2]  3  [4]  5  [6]  7  [8]  9  [10]
//   group:           0       1       2       3       4
//
// Group rank 0 (2 in the world) sends a tensor and a list of objects to group rank 4 (10 in the world). Then
// the world splits in two halves, and each passes its ranks around a ring; what is sent in one group matches
// in no other.

#include <parley/objects.h>
#include <parley/parley.h>

#include <cstdio>
#include <vector>

#include "api/examples/start.h"

namespace {

// Every second rank, from 2 on.
std::vector<int> evens_of(const parley::ProcessGroup& world) {
  std::vector<int> ranks;
  for (int rank = 2; rank < world.size(); rank += 2) ranks.push_back(rank);
  return ranks;
}

void send_to_the_last(parley::ProcessGroup& world, parley::Device device) {
  parley::ProcessGroup group = world.new_group(evens_of(world), {.name = "evens"});
  if (!group.is_member()) return;  // made at once, without the others
  const int last = group.size() - 1;
  if (group.rank() == 0) {
    group.send(parley::Tensor::arange({3}, parley::DType::f32, device), last);
    send_object_list(group, std::vector<parley::Object>{"hello", 123, {1, 2, 3}}, last);
    std::printf("[Rank %d] is %d in the group: sent a tensor and a list to %d, which is %d in the world\n",
                world.rank(), group.rank(), last, group.global_rank(last));
  }
  if (group.rank() == last) {
    const parley::Tensor tensor = parley::Tensor::empty({3}, parley::DType::f32, device);
    const int source = group.recv(tensor, parley::any_source).source;
    const auto numbers = values_of<float>(tensor);
    std::printf("[Rank %d] is %d in the group: received %.0f %.0f %.0f from %d, which is %d in the world\n",
                world.rank(), group.rank(), numbers[0], numbers[1], numbers[2], source,
                group.global_rank(source));
    std::vector<parley::Object> objects;
    const int sender = recv_object_list(group, objects, parley::any_source);
    std::printf("[Rank %d] is %d in the group: received %s from %d\n", world.rank(), group.rank(),
                parley::Object(objects).dump().c_str(), sender);
  }
}

void pass_around_in_halves(parley::ProcessGroup& world) {
  const int half = world.rank() < world.size() / 2 ? 0 : 1;
  parley::ProcessGroup group = world.split(half);
  const int next = (group.rank() + 1) % group.size();
  const int previous = (group.rank() + group.size() - 1) % group.size();
  const int received = group.sendrecv(world.rank(), next, previous);
  std::printf("[Rank %d] is %d of %d in half %d: heard from %d\n", world.rank(), group.rank(), group.size(),
              half, received);
}

void groups(parley::ProcessGroup& world, parley::Device device) {
  if (world.size() < 3) return void(std::printf("[Rank %d] Three ranks are needed\n", world.rank()));
  send_to_the_last(world, device);
  pass_around_in_halves(world);
}

}  // namespace

int main(int argc, char** argv) {
  Options options{.world_size = 11};
  if (const auto exit_code = read_options(options, argc, argv, "Groups of some ranks.")) return *exit_code;
  return start(options, groups);
}
