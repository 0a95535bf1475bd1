#include "bench/limits/channel_setup.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <span>
#include <system_error>
#include <utility>

#include "bench/limits/systems.h"

namespace parley::bench {
namespace {

// Read by the partner, at the address that it is told.
constexpr std::uint64_t known_word = 0x7061726c65792121;

// The error of a cross-memory read, 0 when it works.
int try_to_read(pid_t process, std::uint64_t address) {
  std::uint64_t word = 0;
  try {
    read_from_process(process, address, reinterpret_cast<std::uint8_t*>(&word), sizeof(word));
  } catch (const std::system_error& error) {
    return error.code().value();
  }
  // Some process has that number, but not the partner: it lives in another world of process numbers.
  return word == known_word ? 0 : ESRCH;
}

}  // namespace

Channel open_channel(ProcessGroup& group, const Pair& pair, std::size_t most_message_bytes,
                     const Waiting& waiting) {
  // The process, and the descriptor that the leader holds in it.
  std::array<std::int32_t, 2> card{static_cast<std::int32_t>(::getpid()), -1};
  if (!pair.leads) {
    std::array<std::int32_t, 2> leader{};
    group.recv(std::span<std::int32_t>(leader), pair.partner);
    group.send(std::span<std::int32_t>(card), pair.partner);
    return {SharedMemory::open_from(leader[0], leader[1]), most_message_bytes, false, leader[0], waiting};
  }
  SharedMemory memory = SharedMemory::create(Channel::memory_bytes(most_message_bytes));
  card[1] = memory.fd();
  group.send(std::span<std::int32_t>(card), pair.partner);
  group.recv(std::span<std::int32_t>(card), pair.partner);
  return {std::move(memory), most_message_bytes, true, card[0], waiting};
}

int agree_on_cross_memory(ProcessGroup& group, const Pair& pair, pid_t partner_process) {
  const auto mine = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(&known_word));
  const auto theirs = group.sendrecv(mine, pair.partner, pair.partner);
  std::int32_t error = try_to_read(partner_process, static_cast<std::uint64_t>(theirs));
  // No process goes away before all have read.
  group.barrier();
  if (group.rank() != 0) {
    group.send(error, 0);
    return group.recv<std::int32_t>(0);
  }
  for (int rank = 1; rank < group.size(); ++rank) {
    const auto other = group.recv<std::int32_t>(rank);
    if (error == 0) error = other;
  }
  for (int rank = 1; rank < group.size(); ++rank) group.send(error, rank);
  return error;
}

}  // namespace parley::bench
