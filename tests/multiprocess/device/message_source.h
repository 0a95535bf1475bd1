#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>

#include "tests/multiprocess/device/device_rank.h"
#include "tests/multiprocess/support/random.h"
#include "tests/multiprocess/traffic/message_memory.h"

namespace parley::testing {

// Memory of messages on device 0, as programs come by it: of its own or used before, from its first byte on
// or from any other, and, on a simulated device, such that other processes cannot open it. For one thread;
// outlives what it makes.
class DeviceMessageSource {
 public:
  enum class Where : std::uint8_t { host, device, any };  // any: one of both, each time

  DeviceMessageSource(DeviceRank& rank, Where where, std::uint64_t seed)
      : rank_(rank), where_(where), random_(seed) {}

  std::unique_ptr<MessageMemory> make(std::size_t bytes);

 private:
  friend class DeviceMessage;
  struct Block {
    std::size_t bytes;
    DeviceBuffer buffer;
  };
  std::unique_ptr<Block> take(std::size_t bytes);
  void give(std::unique_ptr<Block> block);

  DeviceRank& rank_;
  Where where_;
  Random random_;
  std::list<std::unique_ptr<Block>> spare_;  // the last one given first
};

}  // namespace parley::testing
