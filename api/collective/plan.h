#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "api/schedule/overrides.h"
#include "api/schedule/schedule.h"
#include "api/schedule/selection.h"
#include "transport/base/intrusive_ptr.h"

namespace parley::collective {

// The ranks of a group, as its schedules see them.
struct Team {
  std::uint32_t rank = 0;                 // ours
  std::vector<std::uint32_t> processes;   // by rank: numbers in the world
  std::vector<std::uint32_t> hosts;       // by rank: which host; empty: all on one
  std::vector<std::uint32_t> neighbours;  // the other ranks of our host
  schedule::Surroundings surroundings;
  // Of the last level, that the ranks of our host have together. Where nothing is known, no bound.
  std::size_t cache_bytes = std::numeric_limits<std::size_t>::max();
};

// What a plan depends on. All counts are elements. Spans belong to the caller.
struct Question {
  schedule::Operation operation = schedule::Operation::barrier;
  std::uint32_t root = 0;
  std::uint64_t count = 0;
  std::span<const std::uint64_t> counts = {};  // as in schedule::Shape
  std::span<const std::uint64_t> receive_counts = {};
  std::uint32_t element_bytes = 1;  // a power of 2
  bool in_place = false;
  bool commutative = true;
  bool rank_order = false;     // Determinism::rank_order
  bool on_host = true;         // all memory is the host's, and the run does all of it itself
  bool on_one_device = false;  // all ranks' memory is on the same one
};

// Which stages the turns of a call use, of what each rank has for others to see.
enum class StageSet : std::uint8_t {
  usual,
  // Many small ones: who only shows something has no need to wait until others have read what it showed in
  // calls before.
  ahead,
};

struct Plan;
// All shares in the plans of a group are touched under the engine's lock.
using PlanHandle = base::IntrusivePtr<const Plan>;

// One rank's schedule for a question, and why this one; with what a run begins with, ready to be copied.
struct Plan {
  // For each step how many events it waits for; then, each with room for all steps, the transfers that wait
  // for nothing, marks too, the last one first (a stack), and the copies and reductions, the first one first.
  struct Start {
    std::vector<std::uint32_t> memory;
    std::size_t transfers = 0;
    std::size_t local = 0;
  };

  // More work than that, some 50 us, is done in pieces, between which others have their turn.
  static constexpr std::uint64_t most_straight_bytes = 512 << 10;

  schedule::Plan choice;
  schedule::Schedule schedule;
  Start start;
  // Both as in Commons::stage(). The same on all ranks of a host.
  StageSet stage_set = StageSet::usual;
  std::size_t stage_bytes = 0;
  std::vector<bool> sends_to_us;   // by rank
  std::size_t most_operands = 0;   // of one step
  std::size_t step_count = 0;      // schedule.steps.size(), which multiplies: asked by each call
  std::uint64_t local_count = 0;   // elements that its steps copy, and fold into others
  bool is_straight = false;        // one part, few bytes, no messages, no scratch memory: see straight.cc
  bool has_large_steps = false;    // what they name may be lent, or be shown past the caches
  bool lands_past_caches = false;  // copies to the output may: there is more than half the caches hold
  bool passes_loans_on = false;    // to ranks that do not see them: what comes of them goes on by messages

  // Of a call in two parts the first one, in which the ranks tell each other what they lend. Null: it has
  // one.
  PlanHandle roll_call;
  // The second part where all lend what it takes, else that is this plan. Null: this rank could not.
  PlanHandle if_lent;
  bool may_be_copied = false;  // then, ordinary memory by the kernel: see CopyChoice

  base::ShareCount shares;  // of PlanHandle
};
// The plan for a schedule of a group of so many ranks; the choice is the caller's to note. Throws
// std::bad_alloc.
std::unique_ptr<Plan> plan_of(schedule::Schedule schedule, std::size_t ranks, std::uint32_t element_bytes);

// The plans of one group, made when they are first needed and kept: a bounded number, those used last.
// Thread-safety: none; the engine's lock.
class PlanCache {
 public:
  PlanCache(const Team& team, const schedule::Overrides& overrides) : team_(team), overrides_(overrides) {}

  // Throws std::bad_alloc. Cost: nothing much if it was asked a moment ago; some microseconds for a new one,
  // with thousands of ranks milliseconds. Valid until the next call.
  const PlanHandle& find(const Question& question) {
    const std::size_t recent = recent_[place_of(question)];
    if (recent < entries_.size() && entries_[recent].answers(question)) [[likely]]
      return use(entries_[recent]);
    return look_further(question);
  }
  // In words: what is chosen, and why.
  [[nodiscard]] std::string explain(const Question& question) const;

  // What each rank has for others to see, and after how many turns it serves again.
  struct SharedRoom {
    struct Stages {
      std::size_t bytes = 0;  // of one
      std::int32_t turns = 2;
      [[nodiscard]] std::size_t all_bytes() const noexcept { return static_cast<std::size_t>(turns) * bytes; }
    };
    std::size_t line_bytes = 0;
    std::int32_t line_turns = 2;
    Stages usual = {};
    Stages ahead = {};  // of no bytes: there are none
    [[nodiscard]] const Stages& of(StageSet set) const noexcept {
      return set == StageSet::ahead ? ahead : usual;
    }
  };
  // From now on schedules may use it, and loans.
  void share_memory(const SharedRoom& room) noexcept {
    room_ = room;
    entries_.clear();
  }

  static constexpr std::size_t most_plans = 64;
  // To lend less is not worth the wait until it has been read.
  static constexpr std::size_t least_loan_bytes = 64 << 10;
  // Nor is it worth a part of its own to know who lends less.
  static constexpr std::size_t least_roll_call_bytes = 128 << 10;
  // The same of what is only moved, and of all that a root hands out.
  static constexpr std::size_t least_moved_bytes = 256 << 10;
  static constexpr std::size_t least_scattered_bytes = std::size_t{1} << 20;
  // Of what is folded nor is less of ordinary memory worth it, where the kernel looks up each page.
  static constexpr std::size_t least_copied_bytes = std::size_t{2} << 20;

 private:
  struct Entry {
    Question question;  // without its spans
    std::vector<std::uint64_t> counts;
    std::vector<std::uint64_t> receive_counts;
    PlanHandle plan;
    std::uint64_t used_at = 0;  // by uses_
    [[nodiscard]] bool answers(const Question& asked) const noexcept;
  };

  // Where recent_ says which entry was the last one of such a question. Those that a program asks in turn, of
  // one size with each rank as the root, have places of their own.
  static std::size_t place_of(const Question& question) noexcept {
    const std::uint64_t spread = question.count * 0x9e3779b97f4a7c15ULL >> 32;  // round sizes, too
    return (question.root + 5 * static_cast<std::size_t>(question.operation) + spread) % recent_places;
  }
  static constexpr std::size_t recent_places = 32;
  const PlanHandle& use(Entry& entry) noexcept {
    entry.used_at = ++uses_;
    return entry.plan;
  }

  const PlanHandle& look_further(const Question& question);
  [[nodiscard]] std::vector<Entry>::iterator least_recent() noexcept;
  [[nodiscard]] Entry answer(const Question& question) const;
  [[nodiscard]] StageSet stage_set_of(const Question& question) const noexcept;
  [[nodiscard]] schedule::Request request_of(const Question& question) const;

  const Team& team_;
  const schedule::Overrides& overrides_;
  SharedRoom room_;
  std::vector<Entry> entries_;
  std::array<std::uint8_t, recent_places> recent_{};  // by place_of(): an index of entries_, or beyond
  std::uint64_t uses_ = 0;
};

}  // namespace parley::collective
