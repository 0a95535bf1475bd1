#include "rendezvous/launchers.h"

#include <parley/error.h>

#include "rendezvous/slurm.h"
#include "transport/base/log.h"

namespace parley::rendezvous {
namespace {

struct Names {
  const char* launcher;
  const char* rank;
  const char* size;
  const char* local_rank;
  const char* local_size;
};

std::optional<Membership> read(const Surroundings& around, const Names& names) {
  if (!around.has(names.rank) && !around.has(names.size)) return std::nullopt;
  Membership membership;
  membership.launcher = names.launcher;
  membership.rank_name = names.rank;
  membership.size_name = names.size;
  membership.local_rank_name = names.local_rank;
  membership.rank = around.integer(names.rank);
  membership.world_size = around.integer(names.size);
  membership.local_rank = around.integer(names.local_rank);
  membership.local_size = around.integer(names.local_size);
  return membership;
}

// The variables that are set, as one text; empty when none is.
template <typename... Name>
std::string key_of(const Surroundings& around, Name... names) {
  std::string key;
  ((key += around.has(names) ? base::concat(names, "=", around.text(names), "\n") : ""), ...);
  return key;
}

// Some services set RANK and WORLD_SIZE once for a node and leave it to a program there to start the ranks.
void refuse_numbers_of_nodes(const Surroundings& around) {
  const auto per_node = around.integer("NPROC_PER_NODE");
  if (!per_node || *per_node <= 1 || around.has("LOCAL_RANK")) return;
  throw UsageError(
      base::concat("RANK and WORLD_SIZE seem to count nodes, for NPROC_PER_NODE=", *per_node,
                   " and LOCAL_RANK is not set: start the ranks of each node with torchrun, or set ",
                   "PARLEY_RANK and PARLEY_WORLD_SIZE"));
}

void refuse_batch_script(const Surroundings& around) {
  const auto tasks = around.integer("SLURM_NTASKS");
  if (!around.has("SLURM_JOB_ID") || !tasks || *tasks <= 1) return;
  throw UsageError(base::concat("Slurm job ", around.text("SLURM_JOB_ID"), " has SLURM_NTASKS=", *tasks,
                                ", but this process is no task of a step: start the program with srun, "
                                "mpirun or parley-run; or, for this "
                                "process alone, set PARLEY_RANK=0 and PARLEY_WORLD_SIZE=1"));
}

}  // namespace

std::span<const char* const> launcher_variables() noexcept {
  static constexpr const char* names[] = {"MASTER_ADDR",
                                          "MASTER_PORT",
                                          "RANK",
                                          "WORLD_SIZE",
                                          "LOCAL_RANK",
                                          "LOCAL_WORLD_SIZE",
                                          "NPROC_PER_NODE",
                                          "TORCHELASTIC_RUN_ID",
                                          "TORCHELASTIC_RESTART_COUNT",
                                          "OMPI_COMM_WORLD_RANK",
                                          "OMPI_COMM_WORLD_SIZE",
                                          "OMPI_COMM_WORLD_LOCAL_RANK",
                                          "OMPI_COMM_WORLD_LOCAL_SIZE",
                                          "OMPI_MCA_orte_precondition_transports",
                                          "OMPI_MCA_orte_hnp_uri",
                                          "PMIX_NAMESPACE",
                                          "PMIX_SERVER_URI2",
                                          "PMIX_SERVER_URI4",
                                          "PMI_RANK",
                                          "PMI_SIZE",
                                          "PMI_FD",
                                          "PMI_PORT",
                                          "MPI_LOCALRANKID",
                                          "MPI_LOCALNRANKS",
                                          "SLURM_PROCID",
                                          "SLURM_NTASKS",
                                          "SLURM_LOCALID",
                                          "SLURM_JOB_ID",
                                          "SLURM_STEP_ID",
                                          "SLURM_STEP_NUM_TASKS",
                                          "SLURM_STEP_NODELIST",
                                          "SLURM_RESTART_COUNT",
                                          "XDG_RUNTIME_DIR"};
  return names;
}

std::optional<Membership> told_by_parley(const Surroundings& around) {
  auto membership =
      read(around, {"PARLEY_RANK", "PARLEY_RANK", "PARLEY_WORLD_SIZE", "PARLEY_LOCAL_RANK", ""});
  if (membership) membership->launcher = "the environment";
  if (!membership && around.has("PARLEY_LOCAL_RANK"))
    throw UsageError("PARLEY_LOCAL_RANK is set, but PARLEY_RANK and PARLEY_WORLD_SIZE are not");
  return membership;
}

std::optional<Membership> told_by_torch_names(const Surroundings& around) {
  auto membership = read(around, {"the environment", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"});
  if (!membership) return membership;
  if (!around.has("TORCHELASTIC_RUN_ID")) {
    refuse_numbers_of_nodes(around);
    return membership;
  }
  membership->launcher = "torchrun";
  membership->job = key_of(around, "TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT");
  return membership;
}

std::optional<Membership> told_by_open_mpi(const Surroundings& around) {
  auto membership = read(around, {"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
                                  "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"});
  if (!membership) return membership;
  // The namespace alone is made of the launcher's process number and comes back; the others differ then.
  membership->host_key = key_of(around, "PMIX_NAMESPACE", "OMPI_MCA_orte_precondition_transports",
                                "OMPI_MCA_orte_hnp_uri", "PMIX_SERVER_URI2", "PMIX_SERVER_URI4");
  membership->job = key_of(around, "PMIX_NAMESPACE", "OMPI_MCA_orte_precondition_transports");
  membership->advice = "mpirun -x NAME=value";
  return membership;
}

std::optional<Membership> told_by_pmi(const Surroundings& around) {
  auto membership = read(around, {"PMI", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"});
  if (!membership) return membership;
  membership->advice = "mpirun -genv NAME value";
  // Hydra has no number for a job. Its ranks of one host all inherit a socket of one process, or are told the
  // port of one.
  if (const auto fd = around.integer("PMI_FD"); fd && *fd >= 0 && *fd <= 65535) {
    if (const auto maker = around.maker_of_socket(static_cast<int>(*fd)))
      membership->host_key = base::concat("PMI_FD of ", *maker);
  } else {
    membership->host_key = key_of(around, "PMI_PORT");
  }
  return membership;
}

std::optional<Membership> told_by_slurm(const Surroundings& around) {
  if (!around.has("SLURM_STEP_NUM_TASKS")) {
    refuse_batch_script(around);
    return std::nullopt;
  }
  auto membership = read(around, {"Slurm", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", ""});
  membership->job = base::concat("slurm ", around.text("SLURM_JOB_ID"), ".", around.text("SLURM_STEP_ID"),
                                 " ", around.text("SLURM_RESTART_COUNT"));
  membership->advice = "srun --export=ALL,NAME=value";
  if (const auto list = around.variable("SLURM_STEP_NODELIST")) {
    const auto node = first_node(*list);
    if (!node) throw UsageError(base::concat("SLURM_STEP_NODELIST=", *list, " is no list of nodes"));
    membership->node = *node;
  }
  return membership;
}

}  // namespace parley::rendezvous
