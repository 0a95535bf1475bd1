// What launchers set, recorded where Debian has them (Open MPI 4.1, MPICH 4.0, Slurm 22.05), else as their
// documentation says, and what is made of it.

#include <gtest/gtest.h>
#include <parley/error.h>

#include <algorithm>
#include <memory>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "rendezvous/discovery.h"
#include "rendezvous/launchers.h"
#include "rendezvous/private_file.h"
#include "rendezvous/slurm.h"
#include "tests/unit/rendezvous/pretended.h"

namespace parley::rendezvous {
namespace {

const Variables torchrun = {{"RANK", "5"},
                            {"WORLD_SIZE", "8"},
                            {"LOCAL_RANK", "1"},
                            {"LOCAL_WORLD_SIZE", "4"},
                            {"GROUP_RANK", "1"},
                            {"ROLE_RANK", "5"},
                            {"ROLE_WORLD_SIZE", "8"},
                            {"ROLE_NAME", "default"},
                            {"GROUP_WORLD_SIZE", "2"},
                            {"MASTER_ADDR", "node-a"},
                            {"MASTER_PORT", "29500"},
                            {"TORCHELASTIC_RESTART_COUNT", "0"},
                            {"TORCHELASTIC_MAX_RESTARTS", "0"},
                            {"TORCHELASTIC_RUN_ID", "none"},
                            {"TORCHELASTIC_USE_AGENT_STORE", "True"}};

const Variables kubeflow = {{"RANK", "0"},
                            {"WORLD_SIZE", "2"},
                            {"MASTER_ADDR", "job-master-0"},
                            {"MASTER_PORT", "23456"},
                            {"PYTHONUNBUFFERED", "0"},
                            {"KUBERNETES_PORT", "tcp://10.96.0.1:443"},
                            {"KUBERNETES_SERVICE_HOST", "10.96.0.1"}};

const Variables open_mpi = {
    {"OMPI_COMM_WORLD_RANK", "1"},
    {"OMPI_COMM_WORLD_SIZE", "2"},
    {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
    {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
    {"OMPI_COMM_WORLD_NODE_RANK", "1"},
    {"OMPI_MCA_orte_hnp_uri", "953155584.0;tcp://192.0.2.2:48959;tcp6://[fd00::2]:34953"},
    {"OMPI_MCA_orte_num_nodes", "1"},
    {"OMPI_MCA_orte_precondition_transports", "aa20c140d6728a66-da1eb17525d44f48"},
    {"OMPI_UNIVERSE_SIZE", "2"},
    {"PMIX_NAMESPACE", "953155585"},
    {"PMIX_RANK", "1"},
    {"PMIX_SERVER_URI2", "953155584.0;tcp4://127.0.0.1:38203"}};

const Variables mpich = {{"GFORTRAN_UNBUFFERED_PRECONNECTED", "y"},
                         {"MPI_LOCALNRANKS", "2"},
                         {"MPI_LOCALRANKID", "1"},
                         {"PMI_FD", "8"},
                         {"PMI_RANK", "1"},
                         {"PMI_SIZE", "2"}};

const Variables intel_mpi = {{"I_MPI_HYDRA_HOST_FILE", "hosts"},
                             {"MPI_LOCALNRANKS", "2"},
                             {"MPI_LOCALRANKID", "0"},
                             {"PMI_PORT", "node-a:40321"},
                             {"PMI_ID", "0"},
                             {"PMI_RANK", "0"},
                             {"PMI_SIZE", "2"}};

const Variables slurm = {{"SLURM_JOB_ID", "17"},
                         {"SLURM_JOB_NODELIST", "n[03-04]"},
                         {"SLURM_LOCALID", "1"},
                         {"SLURM_NODEID", "1"},
                         {"SLURM_NPROCS", "4"},
                         {"SLURM_NTASKS", "4"},
                         {"SLURM_PROCID", "3"},
                         {"SLURM_STEP_ID", "2"},
                         {"SLURM_STEP_NODELIST", "n[03-04]"},
                         {"SLURM_STEP_NUM_TASKS", "4"},
                         {"SLURM_STEP_TASKS_PER_NODE", "2(x2)"}};

// The script that sbatch starts, before any srun.
const Variables slurm_batch = {{"SLURM_JOB_ID", "3"}, {"SLURM_LOCALID", "0"}, {"SLURM_NPROCS", "3"},
                               {"SLURM_NTASKS", "3"}, {"SLURM_PROCID", "0"},  {"SLURM_JOB_NODELIST", "n1"}};

Variables with(Variables base, const Variables& more) {
  for (const auto& [name, value] : more) base[name] = value;
  return base;
}

std::string refusal_of(const Variables& variables) {
  try {
    place_of(variables);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

struct Row {
  const char* name;
  Variables variables;
  int rank, world_size, local_rank;
  std::string store_host;
  int store_port;
  std::string source;
};
void PrintTo(const Row& row, std::ostream* out) {
  *out << row.name;
}

class Launchers : public testing::TestWithParam<Row> {};

TEST_P(Launchers, TellRankSizeAndStore) {
  const Row& row = GetParam();
  const Place place = place_of(row.variables);
  EXPECT_FALSE(place.alone);
  EXPECT_EQ(place.rank, row.rank);
  EXPECT_EQ(place.world_size, row.world_size);
  EXPECT_EQ(place.local_rank, row.local_rank);
  EXPECT_EQ(place.store_host, row.store_host);
  EXPECT_EQ(place.store_port, row.store_port);
  EXPECT_EQ(place.serves_store, row.rank == 0 && !row.store_host.empty());
  EXPECT_EQ(place.source, row.source);
}

const Variables address = {{"MASTER_ADDR", "node-m"}, {"MASTER_PORT", "4000"}};
const Variables parley = {{"PARLEY_RANK", "0"}, {"PARLEY_WORLD_SIZE", "3"}, {"PARLEY_LOCAL_RANK", "2"}};
const std::string in_a_file = "; the store in a file, for all ranks are on this host";

INSTANTIATE_TEST_SUITE_P(
    Recorded, Launchers,
    testing::ValuesIn(std::vector<Row>{
        {"Torchrun", torchrun, 5, 8, 1, "node-a", 29501,
         "torchrun (RANK, WORLD_SIZE); the store by MASTER_ADDR=node-a, MASTER_PORT=29500, at port 29501 "
         "beside "
         "that of torchrun's agent"},
        {"TorchrunAtTheLastPort", with(torchrun, {{"MASTER_PORT", "65535"}}), 5, 8, 1, "node-a", 65534,
         "torchrun (RANK, WORLD_SIZE); the store by MASTER_ADDR=node-a, MASTER_PORT=65535, at port 65534 "
         "beside "
         "that of torchrun's agent"},
        {"TorchrunUnderSrun", with(slurm, torchrun), 5, 8, 1, "node-a", 29501,
         "torchrun (RANK, WORLD_SIZE); the store by MASTER_ADDR=node-a, MASTER_PORT=29500, at port 29501 "
         "beside "
         "that of torchrun's agent"},
        {"Kubeflow", kubeflow, 0, 2, -1, "job-master-0", 23456,
         "the environment (RANK, WORLD_SIZE); the store by MASTER_ADDR=job-master-0, MASTER_PORT=23456"},
        {"OpenMpi", open_mpi, 1, 2, 1, "", 0,
         "Open MPI (OMPI_COMM_WORLD_RANK, OMPI_COMM_WORLD_SIZE)" + in_a_file},
        {"OpenMpiWithAnAddress", with(open_mpi, address), 1, 2, 1, "node-m", 4000,
         "Open MPI (OMPI_COMM_WORLD_RANK, OMPI_COMM_WORLD_SIZE); the store by MASTER_ADDR=node-m, "
         "MASTER_PORT=4000"},
        {"OpenMpiInASlurmJob", with(slurm, open_mpi), 1, 2, 1, "", 0,
         "Open MPI (OMPI_COMM_WORLD_RANK, OMPI_COMM_WORLD_SIZE)" + in_a_file},
        {"OpenMpiInABatchScript", with(slurm_batch, open_mpi), 1, 2, 1, "", 0,
         "Open MPI (OMPI_COMM_WORLD_RANK, OMPI_COMM_WORLD_SIZE)" + in_a_file},
        {"Mpich", mpich, 1, 2, 1, "", 0, "PMI (PMI_RANK, PMI_SIZE)" + in_a_file},
        {"IntelMpi", intel_mpi, 0, 2, 0, "", 0, "PMI (PMI_RANK, PMI_SIZE)" + in_a_file},
        {"Slurm", slurm, 3, 4, 1, "n03", 21884,
         "Slurm (SLURM_PROCID, SLURM_STEP_NUM_TASKS); the store on the first node of the step, n03, at port "
         "21884 "
         "made of job and step"},
        // srun --mpi=pmi2
        {"SlurmWithPmi",
         with(slurm, {{"PMI_FD", "13"}, {"PMI_JOBID", "17.2"}, {"PMI_RANK", "3"}, {"PMI_SIZE", "4"}}), 3, 4,
         -1, "n03", 21884,
         "PMI (PMI_RANK, PMI_SIZE); the store on the first node of the step, n03, at port 21884 made of job "
         "and "
         "step"},
        {"ParleyWins",
         with(with(with(slurm, torchrun), open_mpi), with(parley, {{"PARLEY_STORE", "tcp://p:7"}})), 0, 3, 2,
         "p", 7, "the environment (PARLEY_RANK, PARLEY_WORLD_SIZE); the store by PARLEY_STORE=tcp://p:7"},
        {"ParleyWithTheAddressOfOthers", with(parley, address), 0, 3, 2, "node-m", 4000,
         "the environment (PARLEY_RANK, PARLEY_WORLD_SIZE); the store by MASTER_ADDR=node-m, "
         "MASTER_PORT=4000"},
        {"AStoreForAnMpiJob", with(mpich, {{"PARLEY_STORE", "tcp://[::1]:7"}}), 1, 2, 1, "::1", 7,
         "PMI (PMI_RANK, PMI_SIZE); the store by PARLEY_STORE=tcp://[::1]:7"},
        {"AloneByItself",
         {{"PARLEY_RANK", "0"}, {"PARLEY_WORLD_SIZE", "1"}},
         0,
         1,
         -1,
         "",
         0,
         "the environment (PARLEY_RANK, PARLEY_WORLD_SIZE); a world of one needs no store"},
    }),
    [](const auto& row) { return std::string(row.param.name); });

// parley-run within an MPI job within a step of Slurm, or within another parley-run: what is nearest counts.
TEST(Launchers, WhatParleyRunSetWinsOverAllAroundIt) {
  auto variables = with(with(with(slurm, torchrun), open_mpi), with(parley, address));
  variables = with(variables,
                   {{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"LOCAL_RANK", "0"}, {"PARLEY_STORE", "launcher"}});
  const Place place = place_of(variables);
  EXPECT_EQ(place.rank, 0);
  EXPECT_EQ(place.world_size, 2);
  EXPECT_EQ(place.local_rank, 0);
  EXPECT_EQ(place.store_host, "node-m");
  EXPECT_EQ(place.store_port, 4000);
  EXPECT_FALSE(place.serves_store);
  EXPECT_EQ(place.job, "");
  EXPECT_EQ(place.source,
            "parley-run (RANK, WORLD_SIZE); the store by MASTER_ADDR=node-m, MASTER_PORT=4000, served by "
            "parley-run");
}

TEST(Launchers, AStoreInAFileIsNamedByItsUser) {
  const Place place = place_of(with(slurm, {{"PARLEY_STORE", "file:///home/user/store"}}));
  EXPECT_EQ(place.store_path, "/home/user/store");
  EXPECT_EQ(place.store_host, "");
  EXPECT_FALSE(place.serves_store);
}

TEST(Launchers, JobsAreToldApart) {
  const auto jobs = [](const Variables& variables, const char* name, const char* other) {
    EXPECT_FALSE(place_of(variables).job.empty());
    EXPECT_NE(place_of(variables).job, place_of(with(variables, {{name, other}})).job) << name;
  };
  jobs(torchrun, "TORCHELASTIC_RUN_ID", "another");
  jobs(torchrun, "TORCHELASTIC_RESTART_COUNT", "1");
  jobs(slurm, "SLURM_JOB_ID", "18");
  jobs(slurm, "SLURM_STEP_ID", "3");
  jobs(slurm, "SLURM_RESTART_COUNT", "1");
  const auto key = [](const Variables& variables) { return place_of(variables).store_key; };
  EXPECT_NE(key(open_mpi), key(with(open_mpi, {{"OMPI_MCA_orte_precondition_transports", "other"}})));
  EXPECT_NE(key(open_mpi), key(with(open_mpi, {{"PMIX_NAMESPACE", "1"}})));
  EXPECT_EQ(key(open_mpi), key(with(open_mpi, {{"OMPI_COMM_WORLD_RANK", "0"}, {"PMIX_RANK", "0"}})));
  EXPECT_NE(key(intel_mpi), key(with(intel_mpi, {{"PMI_PORT", "node-a:1"}})));
  EXPECT_EQ(key(mpich), "PMI_FD of 4711/123456");
  EXPECT_EQ(key(mpich), key(with(mpich, {{"PMI_FD", "6"}, {"PMI_RANK", "0"}, {"MPI_LOCALRANKID", "0"}})));
}

TEST(Launchers, ABatchScriptIsNoStep) {
  EXPECT_EQ(
      refusal_of(slurm_batch),
      "Slurm job 3 has SLURM_NTASKS=3, but this process is no task of a step: start the program with srun, "
      "mpirun or parley-run; or, for this process alone, set PARLEY_RANK=0 and PARLEY_WORLD_SIZE=1");
  EXPECT_TRUE(place_of(with(slurm_batch, {{"SLURM_NTASKS", "1"}})).alone);
  EXPECT_EQ(place_of(with(slurm_batch, {{"PARLEY_RANK", "0"}, {"PARLEY_WORLD_SIZE", "1"}})).world_size, 1);
}

TEST(Launchers, SeveralNodesNeedAnAddress) {
  EXPECT_EQ(refusal_of(with(open_mpi, {{"OMPI_COMM_WORLD_SIZE", "4"}})),
            "Open MPI: 4 ranks, 2 of them on this host, cannot find each other without an address: set "
            "PARLEY_STORE=tcp://HOST:PORT for all of them, HOST being that of rank 0 (mpirun -x NAME=value)");
  EXPECT_EQ(
      refusal_of(with(mpich, {{"MPI_LOCALNRANKS", ""}})),
      "PMI: 2 ranks, and nothing tells how many are on this host, cannot find each other without an address: "
      "set PARLEY_STORE=tcp://HOST:PORT for all of them, HOST being that of rank 0 (mpirun -genv NAME "
      "value)");
  EXPECT_NE(refusal_of(with(intel_mpi, {{"PMI_PORT", ""}})).find("set PARLEY_STORE"), std::string::npos);
}

TEST(Launchers, HalfOfAPairIsNamed) {
  const auto error = [](Variables variables, const char* gone) {
    variables.erase(gone);
    return refusal_of(variables);
  };
  const auto not_set = [](const std::string& text, const std::string& name) {
    EXPECT_NE(text.find("not set: " + name), std::string::npos) << text;
  };
  not_set(error(with(open_mpi, address), "OMPI_COMM_WORLD_SIZE"), "OMPI_COMM_WORLD_SIZE");
  not_set(error(with(open_mpi, address), "OMPI_COMM_WORLD_RANK"), "OMPI_COMM_WORLD_RANK");
  not_set(error(with(mpich, address), "PMI_RANK"), "PMI_RANK");
  not_set(error(with(slurm, address), "SLURM_PROCID"), "SLURM_PROCID");
  not_set(error(with(parley, address), "PARLEY_RANK"), "PARLEY_RANK");
  not_set(error(with(parley, address), "PARLEY_WORLD_SIZE"), "PARLEY_WORLD_SIZE");
  not_set(refusal_of(parley), "MASTER_ADDR, MASTER_PORT");
  not_set(refusal_of({{"PARLEY_STORE", "tcp://host:1"}}), "RANK, WORLD_SIZE");
  not_set(refusal_of(with(open_mpi, {{"MASTER_ADDR", "a"}})), "MASTER_PORT");
  EXPECT_EQ(refusal_of({{"PARLEY_LOCAL_RANK", "0"}}),
            "PARLEY_LOCAL_RANK is set, but PARLEY_RANK and PARLEY_WORLD_SIZE are not");
}

TEST(Launchers, WhatIsLeftOverContradicts) {
  const auto rank_zero = with(address, {{"RANK", "0"}, {"WORLD_SIZE", "2"}});
  EXPECT_EQ(
      refusal_of(with(open_mpi, rank_zero)),
      "RANK=0, WORLD_SIZE=2 and OMPI_COMM_WORLD_RANK=1, OMPI_COMM_WORLD_SIZE=2 contradict each other: unset "
      "those that are left over, or set PARLEY_RANK and PARLEY_WORLD_SIZE");
  EXPECT_NE(refusal_of(with(mpich, with(address, {{"RANK", "0"}, {"WORLD_SIZE", "1"}}))).find("PMI_RANK=1"),
            std::string::npos);
  // The same, said twice; and one process of the MPI job for each node, which starts several ranks.
  EXPECT_EQ(place_of(with(open_mpi, with(rank_zero, {{"RANK", "1"}}))).rank, 1);
  EXPECT_EQ(place_of(with(open_mpi, with(rank_zero, {{"RANK", "6"}, {"WORLD_SIZE", "8"}}))).rank, 6);
  EXPECT_EQ(place_of(with(open_mpi, torchrun)).rank, 5);
  // Who is told by the program is not asked.
  EXPECT_EQ(place_of(with(open_mpi, rank_zero), 1, 2).rank, 1);
}

TEST(Launchers, NumbersOfNodesAreNoRanks) {
  const std::string text = refusal_of(with(kubeflow, {{"NPROC_PER_NODE", "8"}}));
  EXPECT_NE(text.find("RANK and WORLD_SIZE seem to count nodes, for NPROC_PER_NODE=8"), std::string::npos)
      << text;
  EXPECT_EQ(place_of(with(kubeflow, {{"NPROC_PER_NODE", "1"}})).world_size, 2);
  EXPECT_EQ(place_of(with(kubeflow, {{"NPROC_PER_NODE", "8"}, {"LOCAL_RANK", "0"}})).world_size, 2);
}

TEST(Launchers, TheStoreVariableHasOneGrammar) {
  const auto with_store = [](const char* store) {
    return refusal_of(with(parley, {{"PARLEY_STORE", store}}));
  };
  EXPECT_EQ(with_store("node-a:29500"),
            "PARLEY_STORE=node-a:29500: expected tcp://host:port or file:///path (parley-run sets launcher)");
  EXPECT_EQ(with_store("tcp://a:1?rank=0"),
            "PARLEY_STORE=tcp://a:1?rank=0: rank and world size belong in PARLEY_RANK and PARLEY_WORLD_SIZE");
  EXPECT_EQ(with_store("tcp://a"), "PARLEY_STORE=tcp://a: the port is missing; expected tcp://host:port");
  EXPECT_EQ(with_store("file://relative"),
            "PARLEY_STORE=file://relative: expected file:///path with the absolute path of a file");
}

TEST(Launchers, AnotherRankThanTheLaunchersHasNeitherItsLocalRankNorItsFile) {
  const Place place = place_of(with(open_mpi, address), 0, 2);
  EXPECT_EQ(place.rank, 0);
  EXPECT_EQ(place.local_rank, -1);
  EXPECT_EQ(place.source,
            "the program's rank and world size; the store by MASTER_ADDR=node-m, MASTER_PORT=4000");
  EXPECT_THROW(place_of(open_mpi, 0, 2), UsageError);
  EXPECT_EQ(place_of(open_mpi, 1, 2).local_rank, 1);
}

// Under every launcher, with and without the variables that are asked for only then.
TEST(LauncherVariables, AreAllThatAreAskedFor) {
  const auto asked = std::make_shared<std::set<std::string>>();
  const auto ask = [&](const Variables& variables) {
    Surroundings around = pretend(with(variables, {{"XDG_RUNTIME_DIR", ::testing::TempDir()}}));
    around.variable = [asked, inner = around.variable](const char* name) {
      asked->insert(name);
      return inner(name);
    };
    try {
      discover("env://", -1, -1, around);
      private_file("a key", around);
    } catch (const Error&) {
      // Asked it was.
    }
  };
  for (const Variables& one :
       {Variables{}, torchrun, kubeflow, open_mpi, mpich, intel_mpi, slurm, slurm_batch})
    ask(one);
  const auto names = launcher_variables();
  const std::set<std::string> known(names.begin(), names.end());
  EXPECT_EQ(known.size(), names.size()) << "one is there twice";
  std::set<std::string> asked_for = *asked;
  std::erase_if(asked_for,
                [](const std::string& name) { return name.empty() || name.starts_with("PARLEY_"); });
  EXPECT_EQ(asked_for, known);
}

}  // namespace
}  // namespace parley::rendezvous
