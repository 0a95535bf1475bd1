#pragma once

#include <parley/parley.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <vector>

#include "tests/multiprocess/programs/program.h"
#include "tests/multiprocess/support/random.h"

namespace parley::testing {

// One rank's part of an Exchange: starts its sends and receives in a random interleaving, by isend and irecv,
// batches and persistent requests, and checks every byte. Then it does some of them again, in rounds, a
// persistent request by starting it again. What a receive must get is known from the order of the sends of
// its source: messages of one source do not overtake each other.
class RankExchange {
 public:
  // `groups`: handles by id; the rank is a member of those in which it sends or receives.
  RankExchange(std::map<int, ProcessGroup>& groups, std::uint64_t seed, std::size_t statement, int process);

  // In their order in the program.
  void add_send(const PlannedTransfer& transfer);
  void add_receive(const PlannedTransfer& transfer);

  // Called by all ranks of the world.
  void run();

 private:
  struct Operation {
    PlannedTransfer transfer;          // of a receive by nothing: only its group is meant
    PlannedTransfer first = transfer;  // its transfer in the first round
    ReceiveWay way = ReceiveWay::exact;
    bool is_send = false;
    std::vector<std::byte> buffer = {};
    Work work = {};
    PersistentRequest request = {};
    bool is_persistent = false;
  };
  using Key = std::pair<int, int>;  // group, source

  Operation& make_send(const PlannedTransfer& transfer);
  Operation& make_receive(const PlannedTransfer& transfer);
  P2POp op_of(Operation& operation);
  void start_one(Operation& operation);
  void start(Operation& operation);
  void start_batch();
  void receive_probed(const PlannedTransfer& transfer);
  void finish(Operation& operation);
  void repeat(std::uint64_t round);
  void check(const PlannedTransfer& expected, const std::vector<std::byte>& buffer, std::size_t bytes) const;
  PlannedTransfer next_of(int group, int source);

  std::map<int, ProcessGroup>& groups_;
  const std::uint64_t seed_;
  const std::size_t statement_;
  Random random_;
  std::deque<PlannedTransfer> sends_;
  std::deque<PlannedTransfer> receives_;
  std::vector<PlannedTransfer> probed_;                   // in their order in the program
  std::map<Key, std::deque<PlannedTransfer>> unclaimed_;  // what receives by nothing may get
  std::map<int, std::size_t> largest_;                    // of each group, of what comes
  std::list<Operation> operations_;                       // in the order in which they were started
};

}  // namespace parley::testing
