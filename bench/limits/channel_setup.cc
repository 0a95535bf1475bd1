#include "bench/limits/channel_setup.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <system_error>
#include <utility>

#include "bench/limits/systems.h"

namespace parley::bench {

const std::uint64_t known_word = 0x7061726c65792121;

int try_to_read(pid_t process, std::uint64_t address) {
  std::uint64_t word = 0;
  try {
    read_from_process(process, address, reinterpret_cast<std::uint8_t*>(&word), sizeof(word));
  } catch (const std::system_error& error) {
    return error.code().value();
  }
  // Some process has that number, but not the other rank: it lives in another world of process numbers.
  return word == known_word ? 0 : ESRCH;
}

Channel open_channel(World& world, const Pair& pair, std::size_t most_message_bytes, const Waiting& waiting) {
  // The process, and the descriptor that the leader holds in it.
  using Card = std::array<std::int32_t, 2>;
  const auto process = static_cast<std::int32_t>(::getpid());
  if (!pair.leads) {
    const Card leader = world.recv_value<Card>(pair.partner);
    world.send_value(process, pair.partner);
    return {SharedMemory::open_from(leader[0], leader[1]), most_message_bytes, false, leader[0], waiting};
  }
  SharedMemory memory = SharedMemory::create(Channel::memory_bytes(most_message_bytes));
  world.send_value(Card{process, memory.fd()}, pair.partner);
  const auto partner_process = world.recv_value<std::int32_t>(pair.partner);
  return {std::move(memory), most_message_bytes, true, partner_process, waiting};
}

int agree_on_error(World& world, int mine) {
  std::int32_t error = mine;
  // No process goes away before all have read.
  world.barrier();
  if (world.rank() != 0) {
    world.send_value(error, 0);
    return world.share_value(error);
  }
  for (int rank = 1; rank < world.size(); ++rank) {
    const auto other = world.recv_value<std::int32_t>(rank);
    if (error == 0) error = other;
  }
  return world.share_value(error);
}

int agree_on_cross_memory(World& world, const Pair& pair, pid_t partner_process) {
  const auto mine = reinterpret_cast<std::uintptr_t>(&known_word);
  if (pair.leads) world.send_value(mine, pair.partner);
  const auto theirs = world.recv_value<std::uintptr_t>(pair.partner);
  if (!pair.leads) world.send_value(mine, pair.partner);
  return agree_on_error(world, try_to_read(partner_process, theirs));
}

}  // namespace parley::bench
