#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "api/schedule/barriers.h"
#include "api/schedule/blocks.h"
#include "api/schedule/builder.h"
#include "api/schedule/cost.h"
#include "api/schedule/shape.h"
#include "api/schedule/team.h"

namespace parley::schedule {

// What is done in memory that all members of a team share, which are all ranks of a host: each shows the
// others what they want of it, and takes what it wants of them, itself, in as many turns as stages need. Of
// what is shown all name it as its owner has it: where it lies in one of the caller's buffers, that may be
// lent; end_loans() is the caller's part. Messages: none.

// Whether all ranks are on one host, and a stage has something of each.
bool fits_host(const Shape& shape);
// The same of what does not ask whether everyone lends.
bool fits_stages(const Shape& shape);

// Index 0 has it in `from`; all others get it in `to`. `segment`: elements of a turn, at most a stage.
// Returns the step in which we show the last of it, if we do: what we copy for ourselves had better wait for
// that. (Where all show something, that gains 1 to 2 %, and is not done.)
std::uint32_t flat_broadcast(Builder& builder, const Shape& shape, const Team& team, const Slice& from,
                             const Slice& to, std::uint64_t segment);

// `to` at index `root`, or at everyone, := fold of all members' `from`, in the order of the team. `segment`:
// as above.
void flat_reduce(Builder& builder, const Shape& shape, const Team& team, std::uint32_t root,
                 const Slice& from, const Slice& to, std::uint64_t segment);

// Each has its block, `from[index]`; index 0 gets them in `to[index]`, unless it has its own there.
void flat_gather(Builder& builder, const Shape& shape, const Team& team, std::span<const Slice> from,
                 std::span<const Slice> to, std::uint64_t segment);

// The same of everyone; block i of `to` is index i's.
void flat_all_gather(Builder& builder, const Shape& shape, const Team& team, std::span<const Slice> from,
                     const Blocks& to);

// `to` := block me of all members' `from`, folded in the order of the team.
void flat_reduce_scatter(Builder& builder, const Shape& shape, const Team& team, const Blocks& from,
                         const Slice& to);

// At index 0: all members came. Index 0 lets all members go, after `before`. See barriers.h.
Steps flat_assemble(Builder& builder, const Team& team);
void flat_release(Builder& builder, const Team& team, const Steps& before);

// Where each member shows something else to each other one: as much of every block as has room. Small blocks,
// all together, beside its mark.
class Parts {
 public:
  // Borrows builder and team. `largest`: elements of the largest block.
  Parts(const Builder& builder, const Shape& shape, const Team& team, std::uint64_t largest);
  // Elements of a block of `count` that are shown in one turn: it takes as few turns as there is room for,
  // the same whatever this says, and they are alike but for whole lines, since each costs as much waiting,
  // however little it brings.
  [[nodiscard]] std::uint64_t part_of(std::uint64_t count) const noexcept;
  // Elements of a stage that a turn takes.
  [[nodiscard]] std::uint64_t stage_count() const noexcept { return on_line_ ? 0 : others_ * room_; }
  // A piece of member `owner`'s, which it shows to the member `to`; both are indices.
  [[nodiscard]] Slice shown(std::uint32_t owner, std::uint32_t to, const Slice& piece) const noexcept;

 private:
  const Builder& builder_;
  const Team& team_;
  std::uint64_t others_;
  bool on_line_;
  std::uint64_t room_;
};

// The blocks that the members bring along, of all_gather and gather, as each names its own.
std::vector<Slice> inputs_of(const Team& team, const Shape& shape);

// The elements of `block` that lie within [offset, offset + count) of it.
Slice clipped(const Slice& block, std::uint64_t offset, std::uint64_t count);

// The other members in the order in which each one visits them: so that not all are at the same one.
template <typename Use>
void for_each_other(const Team& team, Use use) {
  for (std::uint32_t distance = 1; distance < team.size(); ++distance) use(team.index(team.me() + distance));
}

// Elements of a stage for each of the blocks that a member shows.
std::uint64_t room_for_part(const Shape& shape, std::uint64_t members);

// What they cost.
Path shared_path(std::uint64_t count, std::uint64_t segment, std::uint64_t copied);
Path flat_broadcast_path(std::uint64_t count, std::uint64_t segment);
// Of blocks of at most `largest` elements, `total` together.
Path flat_gather_path(std::uint64_t members, std::uint64_t largest, std::uint64_t total,
                      std::uint64_t segment);
Path flat_all_gather_path(const Shape& shape, std::uint64_t members, std::uint64_t largest,
                          std::uint64_t total);
Path flat_reduce_scatter_path(const Shape& shape, std::uint64_t members, std::uint64_t largest,
                              std::uint64_t total);

}  // namespace parley::schedule
