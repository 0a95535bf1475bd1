#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "rendezvous/surroundings.h"

namespace parley::rendezvous {

// What one kind of launcher says of a process. Numbers are as they were given, not checked.
struct Membership {
  std::string launcher;   // for people: "Open MPI"
  std::string rank_name;  // the variables' names, for people
  std::string size_name;
  std::optional<std::int64_t> rank = std::nullopt;
  std::optional<std::int64_t> world_size = std::nullopt;
  std::optional<std::int64_t> local_rank = std::nullopt;
  std::string local_rank_name = {};
  std::optional<std::int64_t> local_size = std::nullopt;
  std::string job = {};       // tells it from other jobs of the user; empty: unknown
  std::string host_key = {};  // only this job's ranks on this host know it; empty: unknown
  std::string node = {};      // where rank 0 runs; empty: unknown
  std::string advice = {};    // how to give all ranks a variable: "mpirun -x NAME=value"
};

// Every variable without our prefix that discover() and private_file() read, for reports.
std::span<const char* const> launcher_variables() noexcept;

// Each is nothing when none of its variables is set. Throws UsageError when they make no sense; a rank or
// world size alone does not: the other may come from elsewhere.
std::optional<Membership> told_by_parley(const Surroundings& around);
// RANK, WORLD_SIZE: torchrun, Kubeflow, parley-run, or by hand.
std::optional<Membership> told_by_torch_names(const Surroundings& around);
std::optional<Membership> told_by_open_mpi(const Surroundings& around);
// MPICH, Intel MPI and others with the Hydra launcher.
std::optional<Membership> told_by_pmi(const Surroundings& around);
// A step of Slurm. Throws UsageError in a batch script for several tasks, which is none of them.
std::optional<Membership> told_by_slurm(const Surroundings& around);

}  // namespace parley::rendezvous
