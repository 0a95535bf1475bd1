#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "api/collective/plan.h"

namespace parley::collective {

// What is left to do of a plan's schedule: which steps may begin, and how many events each of the others
// still waits for. One piece of memory, laid out as Plan::Start, so that a run begins with one copy.
//
// Each step enters one of the lists once, so none is ever longer than the schedule.
class Agenda {
 public:
  // So that begin() allocates nothing. Throws std::bad_alloc.
  void make_room(const Plan& plan) {
    if (memory_.size() < plan.start.memory.size()) memory_.resize(plan.start.memory.size());
  }

  // Throws std::bad_alloc. No allocation where it has had room for as many steps. The plan outlives its use.
  void begin(const Plan& plan) {
    const std::vector<std::uint32_t>& start = plan.start.memory;
    make_room(plan);
    if (!start.empty()) std::memcpy(memory_.data(), start.data(), start.size() * sizeof(start[0]));
    steps_ = plan.schedule.steps.data();
    left_ = plan.schedule.steps.size();
    transfers_ = memory_.data() + left_;
    local_ = transfers_ + left_;
    transfer_count_ = plan.start.transfers;
    local_end_ = plan.start.local;
    local_begin_ = 0;
  }

  // An event has happened that the step waits for.
  void unblock(std::uint32_t step) noexcept {
    if (--memory_[step] != 0) return;
    if (schedule::is_local(steps_[step]))
      local_[local_end_++] = step;
    else
      transfers_[transfer_count_++] = step;
  }
  void end_step() noexcept { --left_; }
  [[nodiscard]] bool is_done() const noexcept { return left_ == 0; }

  // Sends, receives and marks that may begin: a stack.
  [[nodiscard]] bool has_transfer() const noexcept { return transfer_count_ != 0; }
  std::uint32_t pop_transfer() noexcept { return transfers_[--transfer_count_]; }

  // Copies and reductions that may begin, oldest first.
  [[nodiscard]] bool has_local() const noexcept { return local_begin_ != local_end_; }
  [[nodiscard]] std::uint32_t first_local() const noexcept { return local_[local_begin_]; }
  void pop_local() noexcept { ++local_begin_; }

 private:
  std::vector<std::uint32_t> memory_;
  const schedule::Step* steps_ = nullptr;
  std::uint32_t* transfers_ = nullptr;
  std::uint32_t* local_ = nullptr;
  std::size_t transfer_count_ = 0;
  std::size_t local_begin_ = 0;
  std::size_t local_end_ = 0;
  std::size_t left_ = 0;  // steps that have not ended
};

}  // namespace parley::collective
