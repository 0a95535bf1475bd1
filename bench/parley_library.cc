#include "bench/parley_library.h"

#include <cstdint>
#include <iterator>
#include <string>

#include "bench/hand_written.h"
#include "bench/parley_collective.h"
#include "bench/slowed.h"

namespace parley::bench {

Contender ParleyLibrary::make_in_arena(const Stage& stage, const CollectiveBuffers& like) {
  const std::size_t bytes = like.count() * sizeof(float);
  const std::size_t room = CollectiveBuffers::room_for(like.op(), bytes, like.ranks());
  arena_buffers_.reset();
  arena_ = group_.shared_tensor(room, DType::u8);
  auto* const memory = reinterpret_cast<std::byte*>(arena_.data_as<std::uint8_t>().data());
  arena_buffers_.emplace(like.op(), bytes, like.rank(), like.ranks(), memory);
  Contender contender = make_collective_contender<SlowedCollective<ParleyCollective>>(
      std::string(parley_in_arena), stage, *arena_buffers_, stage.leads, group_, *arena_buffers_,
      options_.async);
  contender.buffers = &*arena_buffers_;
  return contender;
}

std::vector<Contender> ParleyLibrary::collective_contenders(const Stage& stage, CollectiveBuffers& buffers) {
  std::vector<Contender> contenders;
  if (options_.arena) {
    contenders.push_back(make_in_arena(stage, buffers));
  } else {
    contenders.push_back(make_collective_contender<SlowedCollective<ParleyCollective>>(
        "parley", stage, buffers, stage.leads, group_, buffers, options_.async));
  }
  if (options_.by_hand) {
    contenders.push_back(
        make_collective_contender<HandWrittenAllReduce>("by hand", stage, buffers, group_, buffers));
  }
  if (options_.transport != "shm") return contenders;
  limits_ = std::make_unique<CollectiveLimits>(world_, stage, buffers, buffers.count() * sizeof(float));
  std::vector<Contender> loops = limits_->contenders();
  contenders.insert(contenders.end(), std::make_move_iterator(loops.begin()),
                    std::make_move_iterator(loops.end()));
  return contenders;
}

}  // namespace parley::bench
