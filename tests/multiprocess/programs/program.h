#pragma once

#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

namespace parley::testing {

// A random program, the same at all ranks of a job: statements that each rank runs in order, as far as they
// concern it. No statement waits for a later one, so that the whole ends.

// Ranks of the world in the order of their ranks in the group. Group 0 is the world.
struct PlannedGroup {
  int id = 0;
  std::vector<int> members;

  [[nodiscard]] int rank_of(int process) const noexcept;  // -1: no member
};

// By new_group() of one group; by split() or dup() of as many as come out.
struct MakeGroups {
  enum class Way { new_group, split, dup };
  Way way = Way::new_group;
  int parent = 0;
  std::vector<PlannedGroup> made;
};

// All members drop their handles.
struct DropGroup {
  int id = 0;
};

struct PlannedTransfer {
  int group = 0;
  int source = 0;  // in the group
  int destination = 0;
  std::int64_t tag = 0;
  std::size_t bytes = 0;
  std::uint64_t index = 0;  // of the program, what its content is made of
};

// How a rank receives what comes to it in one group during one exchange.
enum class ReceiveWay {
  exact,       // by source and tag
  any_tag,     // by source
  any_source,  // by nothing
  probe,       // by nothing, looked at first
};

// Transfers that are under way together: sends and receives of all ranks, in any interleaving.
struct Exchange {
  std::vector<PlannedTransfer> transfers;  // each rank's sends in their order
};

// Blocking transfers of object lists, one after the other; `bytes` is how long a text in them is.
struct ExchangeObjects {
  std::vector<PlannedTransfer> transfers;
  bool from_any = false;  // they all go to one rank of one group, which takes what comes
};

// One group operation on objects.
struct ObjectCollective {
  enum class Kind { broadcast, gather, all_gather, scatter };
  Kind kind = Kind::broadcast;
  int group = 0;
  int root = 0;
  std::uint64_t index = 0;
};

using Statement = std::variant<MakeGroups, DropGroup, Exchange, ExchangeObjects, ObjectCollective>;

struct Program {
  std::uint64_t seed = 1;
  int ranks = 2;
  std::vector<Statement> statements;
};

// 2 to 12 ranks.
[[nodiscard]] Program make_program(std::uint64_t seed);

// How `destination` receives in this statement: what all ranks could compute.
[[nodiscard]] ReceiveWay receive_way(std::uint64_t seed, std::size_t statement, int group, int destination);

}  // namespace parley::testing
