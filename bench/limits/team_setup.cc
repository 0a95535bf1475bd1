#include "bench/limits/team_setup.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <utility>
#include <vector>

#include "bench/limits/channel_setup.h"

namespace parley::bench {
namespace {

// What a rank tells of itself.
struct Card {
  TeamMate mate;
  std::uint64_t known_word;
};

// Of all ranks, at all ranks.
std::vector<Card> exchange_cards(World& world, const Card& mine) {
  std::vector<Card> cards(static_cast<std::size_t>(world.size()), mine);
  if (world.rank() != 0) world.send_value(mine, 0);
  for (int rank = 0; rank < world.size(); ++rank) {
    Card& card = cards[static_cast<std::size_t>(rank)];
    if (world.rank() == 0 && rank != 0) card = world.recv_value<Card>(rank);
    card = world.share_value(card);
  }
  return cards;
}

SharedMemory open_memory(World& world, std::size_t bytes) {
  // The process, and the descriptor that rank 0 holds in it.
  using Place = std::array<std::int32_t, 2>;
  if (world.rank() != 0) {
    const Place place = world.share_value(Place{});
    return SharedMemory::open_from(place[0], place[1]);
  }
  SharedMemory memory = SharedMemory::create(bytes);
  world.share_value(Place{static_cast<std::int32_t>(::getpid()), memory.fd()});
  return memory;
}

}  // namespace

TeamSetup open_team(World& world, CollectiveBuffers& buffers, std::size_t arena_bytes, const RawLink& link,
                    Idle idle) {
  const auto address = [](const auto* memory) {
    return std::uint64_t{reinterpret_cast<std::uintptr_t>(memory)};
  };
  const Card mine{{::getpid(), address(buffers.out().data()), address(buffers.in().data())},
                  address(&known_word)};
  const std::vector<Card> cards = exchange_cards(world, mine);
  int error = 0;
  std::vector<TeamMate> mates;
  for (const Card& card : cards) {
    mates.push_back(card.mate);
    if (error == 0) error = try_to_read(card.mate.process, card.known_word);
  }
  TeamSetup setup;
  setup.refusal = agree_on_error(world, error);
  setup.team = std::make_unique<Team>(open_memory(world, Team::memory_bytes(arena_bytes, world.size())),
                                      arena_bytes, world.rank(), world.size(), std::move(mates), link, idle);
  // Rank 0's descriptor has been opened by all.
  world.barrier();
  return setup;
}

}  // namespace parley::bench
