#pragma once

#include <parley/process_group.h>

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "tests/multiprocess/traffic/message_memory.h"
#include "tests/multiprocess/traffic/plan.h"

namespace parley::testing {

// Sends what a plan has for one rank, in the plan's order.
class Sender {
 public:
  // `make_memory`: what the messages are sent from.
  Sender(ProcessGroup& world, const std::vector<PlannedMessage>& plan, const PlanOptions& options,
         MemorySource make_memory = host_memory);

  // Starts the next message and frees those that have left; never blocks. False: all have been started.
  bool advance();
  // Returns when all have left.
  void finish();
  // Sends all, each with a blocking call.
  void send_blocking();

 private:
  struct Send {
    std::unique_ptr<MessageMemory> memory;
    Work work;
  };
  // The next message's content; null after the last.
  std::unique_ptr<MessageMemory> next_content();
  Work start(const PlannedMessage& message, const MessageMemory& memory);

  ProcessGroup& world_;
  std::vector<PlannedMessage> messages_;  // of this rank
  std::uint64_t seed_;
  MemorySource make_memory_;
  std::size_t next_ = 0;
  std::map<std::pair<int, std::int64_t>, std::uint64_t> index_;  // by destination and tag
  std::list<Send> sends_;
};

}  // namespace parley::testing
