#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/group_state.h"

// Groups that are made by all ranks of another one: where that one works by NCCL, its communicator is split,
// and theirs need not be made at their first calls on devices.
namespace parley::detail {

// What a rank tells the others of it, one word without spaces, in the exchange of the call that makes groups.
// Of who is in such a call: where the parent's communicator is of use on this rank, which one that is, and
// what this rank wishes for its own group. REQUIRES: a member, and not the engine's lock.
std::string split_word(const GroupState& parent, const GroupOptions& options);
// Of who is in another call.
inline constexpr const char* no_split_word = "-";

struct SplitCall {
  struct Vote {
    int color = 0;                                          // negative: it has no group
    std::optional<wireup::DeviceWish> wish = std::nullopt;  // nothing: the parent's is of no use to it
  };
  const char* name;         // "split", for errors
  std::vector<Vote> votes;  // by rank of the parent
  std::int64_t number = 0;  // of this call and no other
  std::optional<std::chrono::nanoseconds> timeout = std::nullopt;
};

// Of a rank that has told this word.
SplitCall::Vote vote_of(const GroupState& parent, int color, std::string_view word) noexcept;

// Splits the communicator, if all ranks of the parent have said that they can, and one of the groups wants
// NCCL: the call is a collective of the parent then, and waits for all. `child`: this rank's group, which
// gets its link where it wants NCCL, and there is memory for it; null: none. What fails is in the log, and
// perhaps ends the parent's collectives; the child is as one that was not split off.
void split_devices(const std::shared_ptr<GroupState>& parent, const SplitCall& call,
                   GroupState* child) noexcept;

}  // namespace parley::detail
