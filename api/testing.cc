#include <parley/testing.h>

#include <cmath>
#include <exception>
#include <latch>
#include <thread>
#include <vector>

#include "api/group_state.h"
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
  auto state = std::make_shared<detail::GroupState>();
  state->world = wireup::share(std::move(rank.world));
  return detail::GroupAccess::make(std::move(state));
}

}  // namespace

void run_world(int size, const std::function<void(ProcessGroup&)>& fn, const WorldOptions& options) {
  auto ranks = wireup::make_local_ranks(plan_faults(size, options.faults), options.timeout);
  std::vector<std::string> addresses;
  for (const auto& rank : ranks) addresses.push_back(rank.transport->address());

  std::vector<std::exception_ptr> failures(ranks.size());
  std::vector<std::thread> threads;
  // A rank whose death is planned shall not die while others still link to it.
  std::latch linked(size);
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    threads.emplace_back([&, i] {
      ProcessGroup group;
      try {
        group = link_rank(std::move(ranks[i]), addresses, options.timeout);
      } catch (...) {
        failures[i] = std::current_exception();
      }
      linked.arrive_and_wait();
      if (failures[i]) return;
      try {
        fn(group);
      } catch (...) {
        failures[i] = std::current_exception();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  for (const auto& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

}  // namespace parley::testing
