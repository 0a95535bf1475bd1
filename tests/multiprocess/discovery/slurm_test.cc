// The real srun and sbatch, on a cluster of this host alone that the test makes and takes down.

#include <gtest/gtest.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <optional>
#include <thread>

#include "tests/multiprocess/discovery/launched.h"
#include "tests/multiprocess/support/own_store.h"
#include "transport/base/host.h"
#include "transport/socket/secret.h"

namespace parley::testing {
namespace {

using namespace std::chrono_literals;
using launch::testing::CommandOptions;

const std::string probe = PARLEY_DISCOVERY_PROBE;

std::string free_port() {
  const std::string address = free_address();
  return address.substr(address.rfind(':') + 1);
}

class Cluster {
 public:
  Cluster() {
    for (const char* name : {"state", "spool", "run"}) mkdir((path(name)).c_str(), 0755);
    chmod(folder_.path().c_str(), 0755);  // munged wants to be found
    write_key();
    write_configuration();
    munge_.emplace(Words{PARLEY_MUNGED, "-F", "--force", "--num-threads=1", "--key-file=" + path("key"),
                         "--socket=" + path("run/munge"), "--pid-file=" + path("run/munge.pid"),
                         "--log-file=" + path("munge.log"), "--seed-file=" + path("munge.seed")},
                   options());
    controller_.emplace(Words{PARLEY_SLURMCTLD, "-D", "-f", path("slurm.conf")}, options());
    node_.emplace(Words{PARLEY_SLURMD, "-D", "-f", path("slurm.conf")}, options());
  }

  [[nodiscard]] std::string path(const std::string& name) const { return folder_.path() + "/" + name; }
  [[nodiscard]] CommandOptions options() const {
    return {.environment = {{"SLURM_CONF", path("slurm.conf")},
                            {"PARLEY_SECRET", "the secret of the discovery tests"},
                            {"PARLEY_INIT_TIMEOUT", "60s"}}};
  }
  // Until the node takes work.
  [[nodiscard]] bool ready() const {
    const auto end = std::chrono::steady_clock::now() + 60s;
    while (std::chrono::steady_clock::now() < end) {
      Command sinfo({PARLEY_SINFO, "-h", "-o", "%T"}, options());
      if (sinfo.finish() == 0 && sinfo.output() == "idle\n") return true;
      std::this_thread::sleep_for(100ms);
    }
    return false;
  }
  // What the daemons said, when something went wrong.
  [[nodiscard]] std::string logs() const {
    std::string text;
    for (const char* name : {"munge.log", "slurmctld.log", "slurmd.log"}) {
      std::ifstream file(path(name));
      text += std::string(std::istreambuf_iterator<char>(file), {});
    }
    return text;
  }

 private:
  void write_key() const {
    std::ofstream(path("key")) << socket::make_secret();
    chmod(path("key").c_str(), 0600);
  }
  void write_configuration() const {
    const passwd* user = getpwuid(geteuid());
    const std::string name = user != nullptr ? user->pw_name : "root";
    const std::string host = base::host_name();
    std::ofstream(path("slurm.conf"))
        << "ClusterName=parley\nSlurmctldHost=" << host << "(127.0.0.1)\nSlurmUser=" << name
        << "\nSlurmdUser=" << name
        << "\nAuthType=auth/munge\nCryptoType=crypto/munge\nAuthInfo=socket=" << path("run/munge")
        << "\nStateSaveLocation=" << path("state") << "\nSlurmdSpoolDir=" << path("spool")
        << "\nSlurmctldPidFile=" << path("run/slurmctld.pid") << "\nSlurmdPidFile=" << path("run/slurmd.pid")
        << "\nSlurmctldLogFile=" << path("slurmctld.log") << "\nSlurmdLogFile=" << path("slurmd.log")
        << "\nSlurmctldPort=" << free_port() << "\nSlurmdPort=" << free_port()
        << "\nProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nSwitchType=switch/"
           "none\nMpiDefault=none\n"
           "SchedulerType=sched/builtin\nSelectType=select/cons_tres\nSelectTypeParameters=CR_CPU\n"
           "JobAcctGatherType=jobacct_gather/none\nAccountingStorageType=accounting_storage/none\n"
           "ReturnToService=2\nKillWait=1\n"
        // The store's port comes from the number of the job, and other clusters of this test may run now.
        << "FirstJobId=" << getpid() << '\n'
        << "NodeName=localhost NodeHostname=" << host << " NodeAddr=127.0.0.1 CPUs=1 State=UNKNOWN\n"
        << "PartitionName=all Nodes=localhost Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:8\n";
  }

  const test::TemporaryFolder folder_;
  std::optional<Command> munge_;
  std::optional<Command> controller_;
  std::optional<Command> node_;
};

class Slurm : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    cluster = new Cluster;
    ASSERT_TRUE(cluster->ready()) << cluster->logs();
  }
  static void TearDownTestSuite() { delete std::exchange(cluster, nullptr); }

  static void expect_ring(Command& command, int ranks) {
    EXPECT_EQ(command.finish(), 0) << command.output() << command.errors() << cluster->logs();
    EXPECT_EQ(launch::testing::sorted_lines(command.output()), expected_of(ranks)) << command.errors();
  }
  static inline Cluster* cluster = nullptr;
};

TEST_F(Slurm, TheTasksOfAStepFindEachOther) {
  Command command({PARLEY_SRUN, "-O", "-n", "4", probe}, cluster->options());
  expect_ring(command, 4);
}

// Both sets of variables are there; the tasks hold a socket of Slurm's.
TEST_F(Slurm, SoDoThoseWithPmi) {
  Command command({PARLEY_SRUN, "--mpi=pmi2", "-O", "-n", "3", probe}, cluster->options());
  EXPECT_EQ(command.finish(), 0) << command.output() << command.errors() << cluster->logs();
  EXPECT_EQ(launch::testing::sorted_lines(command.output()), expected_of(3)) << command.errors();
}

// One job, three steps at a time: they have the same user, the same secret and the same node.
TEST_F(Slurm, StepsOfOneJobDoNotMeet) {
  std::ofstream(cluster->path("script"))
      << "#!/bin/sh\nfor ranks in 2 3 4; do srun -O --overlap -n $ranks " << probe << " > "
      << cluster->path("out") << ".$ranks 2>&1 & done\nwait\n";
  Command command(
      {PARLEY_SBATCH, "-W", "-O", "-n", "4", "-o", cluster->path("batch.out"), cluster->path("script")},
      cluster->options());
  EXPECT_EQ(command.finish(), 0) << command.errors() << cluster->logs();
  for (int ranks = 2; ranks <= 4; ++ranks) {
    std::ifstream file(cluster->path("out." + std::to_string(ranks)));
    const std::string text(std::istreambuf_iterator<char>(file), {});
    EXPECT_EQ(launch::testing::sorted_lines(text), expected_of(ranks));
  }
}

TEST_F(Slurm, ABatchScriptIsToldThatItIsNoStep) {
  std::ofstream(cluster->path("bare")) << "#!/bin/sh\n" << probe << "\n";
  Command command(
      {PARLEY_SBATCH, "-W", "-O", "-n", "4", "-o", cluster->path("bare.out"), cluster->path("bare")},
      cluster->options());
  EXPECT_EQ(command.finish(), 3) << command.errors() << cluster->logs();
  std::ifstream file(cluster->path("bare.out"));
  const std::string text(std::istreambuf_iterator<char>(file), {});
  EXPECT_NE(
      text.find("has SLURM_NTASKS=4, but this process is no task of a step: start the program with srun"),
      std::string::npos)
      << text;
}

}  // namespace
}  // namespace parley::testing
