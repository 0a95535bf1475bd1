#pragma once

#include <parley/tensor.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "api/collective/agenda.h"
#include "api/collective/commons.h"
#include "api/collective/copy_choice.h"
#include "api/collective/device_side.h"
#include "api/collective/end_reason.h"
#include "api/collective/errand.h"
#include "api/collective/history.h"
#include "api/collective/loans.h"
#include "api/collective/plan.h"
#include "api/collective/scratch.h"
#include "api/collective/signature.h"
#include "api/collective/store_choices.h"
#include "tensor/reduce/reduction.h"
#include "transport/base/intrusive_list.h"
#include "transport/base/spin.h"
#include "transport/engine/engine.h"

namespace parley::collective {

// One collective that is to be done. The memory stays as it is until the request has ended.
struct Call {
  Call() noexcept {}  // no aggregate, which would be filled with zeros first: see transport::Request

  Signature signature;
  Question question;
  const std::byte* input = nullptr;  // in place: see schedule::in_place_layout()
  std::byte* output = nullptr;
  std::uint64_t input_count = 0;  // elements of this rank's buffers
  std::uint64_t output_count = 0;
  // Where a buffer is not one piece of memory, its blocks in their order, instead of `input` or `output`; the
  // run then works on a copy of its own. Never in place. The handles are needed until the call has begun.
  std::span<const Tensor> inputs = {};
  std::span<const Tensor> outputs = {};
  std::shared_ptr<const tensor::Reduction> reduction = nullptr;  // where something is folded
  std::shared_ptr<const DevicePlace> device = nullptr;           // where the memory lies; null: on the host
  std::shared_ptr<Errand> errand = nullptr;  // who does it on the device; the question is then a barrier's
  std::chrono::nanoseconds timeout{};
  bool gives_up = false;                              // see transport::Request
  std::optional<std::int64_t> number = std::nullopt;  // among the group's calls, where it was taken before
};

// What all calls of a group wait for.
class Delay {
 public:
  [[nodiscard]] virtual transport::Agent::Awaited awaited() const noexcept = 0;
  // "rank 2". Empty: nobody.
  [[nodiscard]] virtual std::string waited_for() const = 0;

 protected:
  ~Delay() = default;
};

class Run;
struct TurnTag;
using RunList = base::IntrusiveList<Run, TurnTag>;

// What the ranks of a group on each host have in common, beside their messages.
struct Sharing {
  std::unique_ptr<Commons> commons;  // null: nothing, or not yet
  RunList turns;                     // the runs that use it, in the order of their calls: the first one does
  RunList undecided;                 // the same of those whose plan waits until it is known if there is one
  const Delay* meeting = nullptr;    // by which the ranks find that out; there, where a run is undecided
  StoreChoices stores{1};            // of what this rank shows the others
  const bool is_pause_short = base::is_relaxing_short();
  CopyChoice copies;         // of what could be lent
  CopyChoice::Timing timed;  // of such a call, that the others have not been told of
};

// Where a group's collectives go.
struct Lane {
  transport::Engine& engine;
  const Team& team;
  std::uint32_t context;
  History& history;
  Sharing& sharing;
};

// Runs one schedule. Its parts are sends and receives of the messenger, whose ends wake it (as an agent of
// the engine), marks of other ranks, for which it looks (as a watcher), and copies and reductions, which it
// does itself, in pieces, so that others have their turn.
// Before the first step it brings its input together, after the last one it hands its output out, where the
// call says so.
//
// Course: idle --start()--> running --all steps have ended--> idle
//         idle --start()--> undecided --settle()--> running
//         idle --start()--> straight --all steps have ended--> idle
//                           straight --a mark has not come, or it fails--> running, or idle if there is no
//                                                              memory for that
//         running, undecided --something fails, or it is interrupted--> failing --no part is left--> idle
// While it is failing it begins nothing; what is under way is ended by the abort of the context.
//
// Allocates nothing once it has run a schedule as long, with as much scratch memory.
// Thread-safety: none; the engine's lock.
class Run final : public transport::Agent, public transport::Watcher, public base::ListHook<TurnTag> {
 public:
  Run(const Lane& lane, ScratchPool& scratch) : lane_(lane), scratch_pool_(scratch) {}
  ~Run();
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  // Begins; the request ends with the collective, perhaps at once. Fails with `exhausted`: then this call has
  // no number in the group. Without a plan it waits for settle(). REQUIRES: is_idle().
  transport::Posted start(transport::Messenger& messenger, Call&& call, const PlanHandle& plan) noexcept;
  // The same of a call that stays where it is until the request has ended. Without a request and `ok`: it has
  // ended well. May let the lock go; others may drop `plan` then, of which it keeps a handle of its own.
  transport::Posted start_borrowed(transport::Messenger& messenger, const Call& call,
                                   const PlanHandle& plan) noexcept;

  // Null: there was no memory for one. REQUIRES: it has begun without a plan, and has not ended.
  void settle(const PlanHandle& plan) noexcept;
  // REQUIRES: the same.
  [[nodiscard]] const Question& question() const noexcept { return call_->question; }

  [[nodiscard]] bool is_idle() const noexcept { return state_ == State::idle; }
  // REQUIRES: !is_idle().
  [[nodiscard]] transport::Request& request() const noexcept { return *request_; }

  void advance() noexcept override;
  [[nodiscard]] Awaited awaited() const noexcept override;
  // "ranks 2, 5", or where all have come, what the errand waits for. Empty: nothing.
  [[nodiscard]] std::string waited_for() const;
  bool look() noexcept override;

 private:
  enum class State : std::uint8_t {
    idle,
    straight,   // does step after step within start_borrowed(), without a request; may let the lock go
    undecided,  // has its number among the calls, and no plan
    running,
    failing,  // waits for the parts that are still under way
  };
  // What a send or receive of the schedule knows of itself.
  struct Part {
    Run* run = nullptr;
    std::uint32_t step = 0;
    transport::Request* request = nullptr;  // while it is under way
  };
  // A part of the caller's input or output that lies by itself.
  struct Block {
    std::byte* data = nullptr;
    std::uint64_t count = 0;  // elements
  };
  // How far a list of blocks has been copied; all counts are elements.
  struct Cursor {
    std::size_t block = 0;
    std::uint64_t offset = 0;  // in that block
    std::uint64_t place = 0;   // in all of them, one after another
  };
  // How a part has failed, first of all.
  struct Failure {
    base::Status status;
    const transport::Peer* peer = nullptr;
    bool is_mismatch = false;
    std::uint64_t note = 0;           // then: what the message brought
    bool is_of_another_call = false;  // of another number
  };

  // run.cc: the course
  void note_call(transport::Messenger& messenger, const Call& call) noexcept;
  transport::Posted begin(const PlanHandle& plan) noexcept;
  void prepare(const PlanHandle& plan);
  void keep_lists();
  // Before the first step, also of what is run straight: in the middle that may become a run like others.
  void keep_plan(const PlanHandle& plan) {
    if (plan_ == plan) return;
    make_room(*plan);
    plan_ = plan;
  }
  // No list of a schedule so long has to grow later.
  void make_room(const Plan& plan) {
    if (operands_.size() < plan.most_operands || room_ < plan.step_count) [[unlikely]]
      make_more_room(plan);
  }
  void make_more_room(const Plan& plan);
  void begin_second_part();
  [[nodiscard]] CopyChoice::Subject copy_subject() const noexcept {
    return {call_->question.operation, call_->question.count * call_->question.element_bytes};
  }
  void hear_times(bool is_lent) noexcept;
  void note_time() noexcept;
  void end(std::uint32_t index) noexcept;
  void go_on() noexcept;
  bool run_errand() noexcept;
  void close() noexcept;
  void take_scratch(std::size_t bytes);
  transport::Posted fail_to_begin() noexcept;
  transport::Posted give_up() noexcept;
  void leave(base::Status status) noexcept;
  void drop_memory() noexcept;
  void drop_staging() noexcept;
  [[nodiscard]] std::byte*& memory_of(schedule::Space space) noexcept {
    return memory_[static_cast<std::size_t>(space)];
  }

  // places.h: where its steps' slices lie
  [[nodiscard]] inline std::byte* at(const schedule::Slice& slice, std::uint64_t offset = 0) noexcept;
  // The same, of what nobody lends.
  [[nodiscard]] inline std::byte* own_or_shown(const schedule::Slice& slice,
                                               std::uint64_t offset = 0) const noexcept;
  inline void copy_for(const schedule::Step& step, std::byte* to, const std::byte* from,
                       std::size_t bytes) noexcept;

  // work.cc: its copies and reductions, piece by piece
  bool work_pieces() noexcept;
  void ring_before(const schedule::Step& step) noexcept;
  std::uint64_t work_a_piece(std::uint64_t most) noexcept;
  void work(const schedule::Step& step, std::uint64_t count) noexcept;
  [[nodiscard]] bool may_land_past_caches(std::size_t bytes) const noexcept;
  [[nodiscard]] bool is_shown(const schedule::Slice& slice) const noexcept;
  [[nodiscard]] std::byte* lent(const schedule::Slice& slice, std::uint64_t offset) noexcept;
  [[nodiscard]] bool is_brought(const schedule::Slice& slice) const noexcept {
    return slice.loan != schedule::Loan::none && loans_.is_copied(slice.owner, slice.loan);
  }
  bool bring(const schedule::Slice& slice, std::byte* to, std::uint64_t count) noexcept;
  [[nodiscard]] bool has_all_lent() noexcept;

  // staging.cc: before the first step and after the last
  [[nodiscard]] bool needs_staging() const noexcept {
    return !call_->inputs.empty() || !call_->outputs.empty() || prepares();
  }
  [[nodiscard]] bool prepares() const noexcept {
    return call_->reduction != nullptr && call_->reduction->prepares();
  }
  [[nodiscard]] bool finishes() const noexcept {
    return call_->reduction != nullptr && call_->reduction->finishes();
  }
  void prepare_staging();
  std::byte* take_room(DeviceSide::Room room, ScratchPool::Memory& memory, std::size_t bytes);
  void copy(std::byte* to, const std::byte* from, std::size_t bytes) noexcept;
  void show(std::uint32_t peer, std::byte* to, const std::byte* from, std::size_t bytes) noexcept;
  void prepare_elements(std::byte* to, const std::byte* from, std::size_t count) noexcept;
  void finish_elements(std::byte* elements, std::size_t count) noexcept;
  bool open_pieces() noexcept;
  bool close_pieces() noexcept;
  bool finish_pieces() noexcept;
  template <typename Visit>
  bool visit_piece(const std::vector<Block>& blocks, const Visit& visit) noexcept;
  [[nodiscard]] std::uint64_t piece_count() const noexcept;

  // transfers.cc: its sends and receives
  void begin(std::uint32_t index) noexcept;
  transport::Posted send(const schedule::Step& step) noexcept;
  transport::Posted receive(const schedule::Step& step) noexcept;
  template <typename Spec, typename Post>
  transport::Posted post(Spec& spec, std::byte* memory, std::size_t bytes, const Post& post_it) noexcept;
  void note_end(std::uint32_t index, const transport::Request& part) noexcept;
  static void on_part_done(transport::Request& part) noexcept;

  // has_come.h: whether what a step awaits has come
  [[nodiscard]] inline bool has_come(const schedule::Step& step) noexcept;
  [[nodiscard]] inline bool has_come(std::uint32_t rank, const schedule::Step& step) noexcept;
  [[nodiscard]] inline std::uint64_t own_call_at(const schedule::Step& step) const noexcept;

  // straight.cc: step by step, as long as the others come at once
  [[nodiscard]] bool has_bad_news() const noexcept;
  [[nodiscard]] bool may_run_straight(const Plan& plan) const noexcept;
  bool run_straight(const PlanHandle& plan) noexcept;
  bool run_step(const schedule::Step& step, const Plan& plan) noexcept;
  bool work_at_once(const schedule::Step& step) noexcept;
  bool look_for(const schedule::Step& step) noexcept;
  bool yield_for(const schedule::Step& step) noexcept;
  transport::Posted fail_straight() noexcept;

  // marks.cc: what it shows the other ranks of the host, and waits for to be shown
  // Looks for a mark, some 2 us together: what the other ranks need if they have called at the same time.
  // Other threads wait for the lock meanwhile.
  static constexpr int short_spins = 64;
  void enter_turns() noexcept;
  void take_turns() noexcept;
  void begin_loans(const Plan& plan);
  [[nodiscard]] bool has_turn() const noexcept;
  void publish(const schedule::Step& step) noexcept;
  void await(std::uint32_t index) noexcept;
  bool collect_marks() noexcept;
  bool spin_for_marks() noexcept;
  void end_turn() noexcept;
  // Of a publish or an await, as the boards count.
  [[nodiscard]] std::uint64_t mark_of(const schedule::Step& step) const noexcept {
    return base_mark_ + static_cast<std::uint64_t>(std::int64_t{step.mark});
  }
  void note_other_call(std::uint32_t rank, const schedule::Step& step) noexcept;
  void note_mismatch(std::uint32_t rank, std::uint64_t call, bool is_of_this_call) noexcept;
  void look_at_boards() noexcept;
  void look_at_first_turn() noexcept;
  void ring() noexcept;
  void probe() noexcept;
  void probe(std::uint32_t rank) noexcept;
  void end_probes() noexcept;
  void note_probe(const transport::Request& probe) noexcept;
  static void on_probe_done(transport::Request& probe) noexcept;
  template <typename Visit>
  void visit_missing(const Visit& visit) const;
  [[nodiscard]] bool is_missing(std::uint32_t process) const noexcept;

  // failing.cc: how it fails
  static void on_interrupt(transport::Request& request) noexcept;
  void look_for_failure() noexcept;
  void look_after_a_second() noexcept;
  void fail_with(const Failure& failure) noexcept;
  void fail_errand() noexcept;
  void abort(const EndReason& reason, std::uint32_t by) noexcept;
  [[nodiscard]] std::string title() const;

  const Lane lane_;
  ScratchPool& scratch_pool_;

  // What small calls touch stands together, in few cache lines.
  State state_ = State::idle;
  bool is_interrupted_ = false;
  bool has_told_ = false;        // that it lasts long
  bool has_errand_ = false;      // that is not told to the device yet
  bool owes_ring_ = false;       // something was published that others may sleep beside
  bool has_extra_work_ = false;  // before its first step, or after its last: needs_staging(), finishes()
  bool is_staged_ = false;       // its input or output is, in memory of the pool
  std::uint32_t executed_ = 0;   // so many of its first steps have ended while it was `straight`
  transport::Messenger* messenger_ = nullptr;
  const Call* call_ = nullptr;  // while it is under way: borrowed, or `kept_`
  PlanHandle plan_;             // kept, with room for it, from run to run: most of them take the same
  std::int64_t sequence_ = 0;   // the number of this call in the group
  std::uint64_t note_ = 0;
  std::uint64_t first_mark_ = 0;  // of the call's first turn; 0: it has taken none yet
  std::uint64_t base_mark_ = 0;   // of the schedule's
  // Input (read only), output and scratch memory of the schedule: the caller's, what is staged for it, on the
  // device; by schedule::Space.
  std::array<std::byte*, 3> memory_{};
  std::uint64_t local_offset_ = 0;  // elements of the copy or reduction that is under way
  std::size_t room_ = 0;            // parts_.size(), likewise: so many steps the lists have room for
  std::vector<const void*> operands_;
  std::vector<std::uint32_t> ended_;  // transfers, since the last advance()
  std::optional<Failure> failure_;
  Loans loans_;

  transport::Request* request_ = nullptr;
  Call kept_;
  PlanHandle second_;  // during the first part of two: see Plan::roll_call
  ScratchPool::Memory staged_input_;
  ScratchPool::Memory staged_output_;
  ScratchPool::Memory scratch_;       // a small one is kept from run to run
  ScratchPool::Memory brought_;       // a piece of each operand of a step, as far as it is not in reach
  std::optional<DeviceSide> device_;  // where the call's memory is on one

  Agenda agenda_;
  std::vector<Part> parts_;  // by step
  std::size_t parts_under_way_ = 0;
  std::vector<std::uint32_t> awaited_;                  // steps: marks that have not come
  std::vector<Part> probes_;                            // by rank, once there was one: see probe()
  CopyChoice::Call copying_;                            // how it does what may be copied; nothing while idle
  CopyChoice::Timing told_;                             // what it tells, if that is heard
  std::chrono::steady_clock::time_point second_began_;  // if its time counts
  std::uint64_t finished_ = 0;                          // elements of the output that were divided (avg)
  std::vector<Block> sources_;                          // of what is staged, until they are in its input
  std::vector<Block> targets_;                          // of the staged output
  Cursor cursor_;                                       // in the one or the other

  // While it is undecided, of a call that was handed over: what its spans are of.
  std::vector<std::uint64_t> counts_;
  std::vector<std::uint64_t> receive_counts_;
  std::vector<Tensor> inputs_;
  std::vector<Tensor> outputs_;
};

// The ranks whose marks are awaited and have not come.
template <typename Visit>
void Run::visit_missing(const Visit& visit) const {
  for (const std::uint32_t index : awaited_) {
    const schedule::Step& step = plan_->schedule.steps[index];
    for (const std::uint32_t rank : lane_.team.neighbours) {
      const bool is_meant = step.peer == schedule::everyone || step.peer == rank;
      const std::uint64_t wanted = mark_of(step);
      if (is_meant && !lane_.sharing.commons->has_reached(rank, wanted)) visit(rank);
    }
  }
}

}  // namespace parley::collective
