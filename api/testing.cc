#include <parley/error.h>
#include <parley/testing.h>

#include <cmath>
#include <exception>
#include <latch>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "api/group_state.h"
#include "api/wireup/last_handle.h"
#include "api/wireup/local_world.h"
#include "transport/base/log.h"

namespace parley::testing {
namespace {

using transport::fault::Cut;
using transport::fault::FaultPlan;

std::uint32_t permille(double probability) {
  return static_cast<std::uint32_t>(std::lround(probability * 1000));
}

std::vector<FaultPlan> plan_faults(int size, const Faults& faults) {
  std::vector<FaultPlan> plans(static_cast<std::size_t>(size));
  for (std::size_t rank = 0; rank < plans.size(); ++rank) {
    FaultPlan& plan = plans[rank];
    plan.seed = faults.seed * 1000 + rank;  // ranks suffer differently
    plan.delay_permille = permille(faults.delay);
    plan.refuse_permille = permille(faults.refusal);
    plan.split_permille = permille(faults.split);
    if (static_cast<int>(rank) == faults.dead_rank) {
      plan.cut = Cut::process_dies;
      plan.cut_at_packet = faults.dead_after_packets;
    } else if (static_cast<int>(rank) == faults.truncated_rank) {
      plan.cut = Cut::truncation;
      plan.cut_at_packet = faults.truncated_packet;
    }
  }
  return plans;
}

ProcessGroup link_rank(wireup::LocalRank rank, const std::vector<std::string>& addresses,
                       std::chrono::nanoseconds timeout) {
  base::set_thread_log_rank(rank.world->rank);
  wireup::link_local_rank(rank, addresses, base::Deadline::after(timeout));
  return detail::GroupAccess::make(detail::GroupState::of_world(wireup::share(std::move(rank.world))));
}

// What the ranks end with. Thread-safety: safe.
class FirstFailure {
 public:
  void note(std::exception_ptr failure) noexcept {
    const std::lock_guard lock(mutex_);
    if (!first_) first_ = std::move(failure);
  }
  void rethrow() const {
    if (first_) std::rethrow_exception(first_);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr first_;
};

// Threads that begin together, or not at all: a rank would wait in vain for one that never came.
class Threads {
 public:
  // Throws ResourceError; then none of them has begun.
  void start(std::size_t count, std::function<void(std::size_t)> body) {
    body_ = std::move(body);
    threads_.reserve(count);
    try {
      for (std::size_t i = 0; i < count; ++i)
        threads_.emplace_back([this, i] {
          decided_.wait();
          if (begin_) body_(i);
        });
    } catch (const std::exception& error) {  // no thread, or no memory for one
      const std::size_t started = threads_.size();
      decided_.count_down();
      join();
      throw ResourceError(base::concat("run_world: ", started, " of ", count,
                                       " threads could be started, no more: ", error.what()));
    }
    begin_ = true;
    decided_.count_down();
  }
  void join() {
    for (auto& thread : threads_) thread.join();
    threads_.clear();
  }

 private:
  std::function<void(std::size_t)> body_;
  std::latch decided_{1};
  bool begin_ = false;  // published by the latch
  std::vector<std::thread> threads_;
};

}  // namespace

void run_world(int size, const std::function<void(ProcessGroup&)>& fn, const WorldOptions& options) {
  if (size < 1)
    throw UsageError(base::concat("run_world: the number of ranks must be at least 1, not ", size));
  if (!fn) throw UsageError("run_world: the function is empty");
  auto ranks = wireup::make_local_ranks(plan_faults(size, options.faults), options.timeout);
  std::vector<std::string> addresses;
  for (const auto& rank : ranks) addresses.push_back(rank.transport->address());

  FirstFailure failure;
  // A rank whose death is planned shall not die while others still link to it.
  std::latch linked(size);
  const auto run_rank = [&](std::size_t i) {
    ProcessGroup group;  // outlives the note of the failure: who leaves is not the first to fail
    bool is_linked = false;
    try {
      group = link_rank(std::move(ranks[i]), addresses, options.timeout);
      is_linked = true;
    } catch (...) {
      failure.note(std::current_exception());
    }
    linked.arrive_and_wait();
    if (!is_linked) return;
    try {
      fn(group);
    } catch (...) {
      failure.note(std::current_exception());
    }
  };
  Threads threads;
  threads.start(ranks.size(), run_rank);
  threads.join();
  failure.rethrow();
}

}  // namespace parley::testing
