#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "api/schedule/hazards.h"
#include "api/schedule/schedule.h"
#include "api/schedule/shape.h"

namespace parley::schedule {

// Writes one rank's schedule, step by step, as the paper would. What a step has to wait for follows from what
// the steps before it read and wrote; a generator says the order of the messages of each lane by the order of
// its calls, and nothing else.
//
// Transfers of nothing, copies of a slice to itself (in place) and copies of nothing are left out. Each call
// returns the step's index, or no_step.
// Thread-safety: none. Throws std::bad_alloc only.
class Builder {
 public:
  Builder(Operation operation, const Shape& shape);

  // The caller's buffers.
  [[nodiscard]] Slice input() const noexcept { return {Space::input, 0, input_count_}; }
  [[nodiscard]] Slice output() const noexcept { return {Space::output, 0, output_count_}; }
  // New scratch memory, all its own.
  Slice scratch(std::uint64_t count);

  std::uint32_t send(std::uint32_t peer, const Slice& from);
  std::uint32_t receive(std::uint32_t peer, const Slice& to);
  // `peer`: as Step::peer. REQUIRES: equal counts.
  std::uint32_t copy(const Slice& from, const Slice& to, std::uint32_t peer = everyone);
  // `to` := left fold of `operands`. One operand is a copy. REQUIRES: equal counts.
  std::uint32_t reduce(const Slice& to, std::span<const Slice> operands);
  std::uint32_t reduce(const Slice& to, std::initializer_list<Slice> operands) {
    return reduce(to, std::span(operands.begin(), operands.size()));
  }

  // Memory that the ranks of a host share, of the turn that was begun last.
  [[nodiscard]] Slice line(std::uint32_t owner, std::uint64_t count) const noexcept {
    return {Space::line, 0, count, owner, schedule_.turns - 1};
  }
  [[nodiscard]] Slice stage(std::uint32_t owner, std::uint64_t count) const noexcept {
    return {Space::stage, 0, count, owner, schedule_.turns - 1};
  }
  // In which no rank uses more than so many elements of its stage: the same on all ranks of a host. 0: lines
  // alone.
  void begin_turn(std::uint64_t stage_count) noexcept {
    ++schedule_.turns;
    schedule_.stage_count = std::max(schedule_.stage_count, stage_count);
    reused_after_ = stage_count == 0 ? line_turns_ : stage_turns_;
  }
  // What is written to our own line or stage from here on waits until the others have read what was there
  // before: all of them until they are known to be in this collective, for the one before may have been
  // anything; later `readers`, one rank or all. REQUIRES: the turns of this schedule that used the same
  // memory were read by no others.
  void make_room(std::uint32_t readers = everyone);
  // For a turn in which nothing is shown, so that no room is made: all others have entered the turn before,
  // and who has called something else before is found out, as by make_room().
  void look_back();
  // What was done in shared memory before, reading too, has been done when others see this; and what was
  // awaited has come: a rank that shows nothing does not run ahead.
  std::uint32_t publish(Progress progress);
  // What is read of `peer` from here on, and written by us, comes after this. Comes itself after our last
  // publish().
  std::uint32_t await_mark(std::uint32_t peer, Progress progress);

  // Whether callers' buffers may be lent; then end_loans() is called last, if there was a turn.
  [[nodiscard]] bool has_loans() const noexcept { return has_loans_; }
  // This rank may lend the buffer.
  void may_lend(Loan buffer) noexcept;
  // What others have lent is read, and what we have lent is ours again.
  void end_loans();

  // Messages without data; only a barrier needs them.
  std::uint32_t signal(std::uint32_t peer);
  std::uint32_t await(std::uint32_t peer);

  // `later` begins after the end of `earlier`; either may be no_step. REQUIRES: earlier < later.
  void order(std::uint32_t earlier, std::uint32_t later);

  // The schedule; the builder is used up.
  [[nodiscard]] Schedule finish();

 private:
  // Where a slice really lies: in place, the caller's two buffers are one.
  struct Place {
    std::size_t buffer;
    std::uint64_t begin;
    friend bool operator==(const Place&, const Place&) = default;
  };
  [[nodiscard]] Place place(const Slice& slice) const noexcept;
  // Of those peers that there are messages for: most ranks of a large group have few.
  using Lanes = std::unordered_map<std::uint32_t, std::uint32_t>;
  std::uint32_t await_turn(std::uint32_t peer, std::int32_t mark);
  void waits_for_peers(std::uint32_t peer);

  std::uint32_t add(const Step& step);
  void reads(std::uint32_t step, const Slice& slice);
  void writes(std::uint32_t step, const Slice& slice);
  // Makes what was noted in before_ the step's predecessors.
  void settle(std::uint32_t step);
  void drop_implied();
  void enter_lane(Lanes& lanes, std::uint32_t peer, std::uint32_t step);

  // Two of the caller and scratch; two lines and two stages of our own, as if there were no more.
  static constexpr std::size_t buffers = 7;

  std::uint32_t rank_;
  std::uint32_t size_;
  std::int32_t line_turns_;
  std::int32_t stage_turns_;
  bool is_after_others_ = false;        // make_room() has waited for all others to be in this collective
  std::int32_t reused_after_ = 0;       // so many turns: the memory of the turn that was begun last
  std::vector<std::uint32_t> sharers_;  // the other ranks that we share memory with
  bool in_place_;
  bool has_loans_;
  InPlaceLayout layout_;
  std::uint64_t input_count_;
  std::uint64_t output_count_;
  Schedule schedule_;
  Hazards hazards_[buffers];
  Lanes sends_;                                          // the last step of each lane, by peer
  Lanes receives_;                                       // the same
  std::vector<std::uint32_t> before_;                    // what the step in the making waits for
  std::vector<std::uint32_t> awaits_;                    // the last await of each peer; none: nobody awaited
  std::vector<std::uint32_t> shared_;                    // what was done there since we published
  std::uint32_t published_ = no_step;                    // the last time
  using Edge = std::pair<std::uint32_t, std::uint32_t>;  // earlier, later
  std::vector<Edge> edges_;                              // by the later step
  std::vector<std::size_t> first_edge_;                  // of each step, in edges_
  std::vector<Edge> ordered_;                            // by order()
};

}  // namespace parley::schedule
