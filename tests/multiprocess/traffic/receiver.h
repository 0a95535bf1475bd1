#pragma once

#include <parley/process_group.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "tests/multiprocess/support/random.h"
#include "tests/multiprocess/traffic/message_memory.h"
#include "tests/multiprocess/traffic/plan.h"

namespace parley::testing {

// Receives all messages that a plan sends to one rank, in every way the API has, and checks every byte. Takes
// some receives back, and lets some have too little room.
//
// Why it may use wildcards without a deadlock: a specific receive is posted only for a message that no posted
// receive counts on, wildcards only while no other wildcard is pending, and never more of them than messages
// are left. Why it knows which message a receive got: those of one source and tag go, in order, to the
// receives that got them, in the order of posting. A receive that is taken back is as if it had never been.
class Receiver {
 public:
  enum class Mode {
    all,             // wildcards and specific receives, pending together
    wildcards_only,  // whatever comes first: for senders that block until a certain message is received
  };
  // `make_memory`: what the messages are received into.
  Receiver(ProcessGroup& world, const std::vector<PlannedMessage>& plan, const PlanOptions& options,
           Mode mode, MemorySource make_memory = host_memory);

  // Posts a few specific receives or looks at the pending ones; never blocks.
  void advance();
  // Blocks until everything has been received. All of this rank's sends must have been started, or another
  // thread must be at it.
  void finish();

 private:
  struct Receive {
    std::size_t capacity = 0;
    std::unique_ptr<MessageMemory> memory;
    Work work = {};
    bool done = false;
    bool is_truncated = false;
    RecvStatus status = {};  // where it is truncated, with all bytes of the message
  };
  using Key = std::pair<int, std::int64_t>;  // source, tag
  struct Stream {
    std::deque<std::size_t> expected_bytes;  // not yet checked
    std::size_t unclaimed = 0;               // no receive was posted for so many
    std::uint64_t index = 0;                 // of the next to be checked
  };

  Key random_unclaimed();
  [[nodiscard]] std::size_t largest_left() const;
  Receive& add(std::size_t capacity);
  void end(Receive& receive);
  void post_specific();
  void post_wildcards();
  void receive_one();
  void receive_probed(int source, std::int64_t tag);
  void claim(const RecvStatus& status);
  void wait_for_all();
  void check_front();

  ProcessGroup& world_;
  Random random_;
  std::uint64_t seed_;
  Mode mode_;
  MemorySource make_memory_;
  std::map<Key, Stream> streams_;
  std::size_t unclaimed_ = 0;
  std::list<Receive> receives_;  // in the order of posting
};

}  // namespace parley::testing
