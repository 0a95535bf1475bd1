#pragma once

#include <cstdint>
#include <vector>

#include "api/schedule/slice.h"

namespace parley::schedule {

enum class StepKind : std::uint8_t {
  send,     // `from` to `peer`; ends when `from` may be written again
  receive,  // `to` from `peer`; ends when the data are there
  copy,     // `from` to `to`; equal counts, no overlap
  reduce,   // `to` := the operands folded from the left, in their order
  publish,  // our mark becomes `mark`; what we wrote to our line and stage before can be read by who sees it
  await,    // ends when the mark of `peer`, or of all others of our host, is `mark` at least
};

// "No step", in Step::next_in_lane.
inline constexpr std::uint32_t no_step = 0xffffffff;
// "All other ranks that we share memory with", those of our host, in Step::peer of an await or a copy.
inline constexpr std::uint32_t everyone = 0xffffffff;

// What a rank tells the others of a host of itself: how far it has come in a turn. Marks only grow, from
// collective to collective: those of a schedule are counted from the first turn of it, and its turns follow
// those of the collective before.
//
// A turn is one use of each rank's line and stage. Who publishes `entered` of a turn has read what it wants
// of the turn before; hence who has seen all others enter a turn may write to the memory of the one before,
// which a later turn uses again: Shape::line_turns, stage_turns. Who has seen that nobody has lent anything
// leaves `returned` out, but where everyone lends: there it may be the only mark of its turn.
enum class Progress : std::uint8_t {
  entered = 1,   // ... and what others want of this rank is there
  folded = 2,    // what this rank has folded is there, too
  returned = 3,  // of the last turn: what others have lent is not read any more
};
inline constexpr std::int32_t marks_per_turn = 4;
constexpr std::int32_t mark_of(std::int32_t turn, Progress progress) noexcept {
  return turn * marks_per_turn + static_cast<std::int32_t>(progress);
}

// One thing that a rank does.
//
// A step begins when its `blockers` events have happened: the end of each step that has it as a successor,
// and, for a transfer, the beginning of the transfer before it in its lane. (A lane is what one rank sends to
// one peer, or receives from one peer. The messages of a lane begin in the order of the list and do not
// overtake each other; hence a schedule needs no tags: the n-th send of a lane meets the n-th receive.)
//
// So an executor keeps one counter per step, set to `blockers`, and runs what stands at zero:
//   at the beginning of a step: --counter[next_in_lane], unless it is no_step;
//   at the end of a step:       --counter[s] for each of its successors s.
struct Step {
  StepKind kind = StepKind::copy;
  // Send, receive, await: a rank of the group. Copy to a stage: the only one that it is meant for, or
  // everyone. Copy out of one: who has shown it to us alone and been shown something by us, or everyone.
  std::uint32_t peer = 0;
  std::uint32_t blockers = 0;
  std::uint32_t next_in_lane = no_step;
  std::uint32_t first_successor = 0;  // in Schedule::successors
  std::uint32_t successor_count = 0;
  std::uint32_t first_operand = 0;  // reduce, in Schedule::operands
  std::uint32_t operand_count = 0;  // reduce: at least 2
  std::int32_t mark = 0;            // publish, await
  bool for_lenders = false;         // of Progress::returned; await: who has lent nothing does not wait
  bool for_room = false;  // await: of a turn long ago; the next such step asks for the turn after it
  Slice from = {};        // send, copy; a send of nothing is a signal (barrier)
  Slice to = {};          // receive, copy, reduce
};

inline bool is_transfer(const Step& step) noexcept {
  return step.kind == StepKind::send || step.kind == StepKind::receive;
}
// Whether it moves elements within what this rank sees.
inline bool is_local(const Step& step) noexcept {
  return step.kind == StepKind::copy || step.kind == StepKind::reduce;
}

// A rank may lend a buffer of its caller's to the others, if all of them can read it: then they read it where
// it lies, instead of what stages are written with. Each rank decides that for each collective; a schedule is
// right whoever lends what, of what it says may be lent, but for those of Shape::everyone_lends.
//
// All that one rank does in one collective: a graph without cycles, in a list in which every step comes after
// those it waits for. Counts are elements, not bytes. Immutable once built; may be run again and by several
// at once, each with its own buffers and counters.
//
// An operand of a reduction has as many elements as `to`. `to` may be exactly one of the operands and
// otherwise overlaps none. Steps that could run at the same time never touch the same elements, unless both
// only read.
struct Schedule {
  std::vector<Step> steps;
  std::vector<std::uint32_t> successors;
  std::vector<Slice> operands;
  std::uint64_t scratch_count = 0;  // elements of Space::scratch; their first content is arbitrary
  // The same on all ranks of a host:
  std::uint32_t turns = 0;        // 0: it uses no shared memory
  std::uint64_t stage_count = 0;  // elements of a stage that a turn uses at most
  bool has_loans = false;         // some rank may lend something

  bool may_lend_input = false;  // this rank
  bool may_lend_output = false;
};

}  // namespace parley::schedule
