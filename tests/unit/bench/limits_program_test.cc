// Runs `parley-bench limits`, with processes, and kills one of them.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "tests/unit/bench/program.h"
#include "transport/base/host.h"

namespace {

using parley::bench::RowFile;
using parley::bench::run_bench;

std::vector<std::string> systems(const std::vector<nlohmann::json>& rows, const std::string& op) {
  std::vector<std::string> names;
  for (const auto& row : rows) {
    if (row["op"] == op) names.push_back(row["system"].get<std::string>());
  }
  // Where the kernel refuses it.
  std::erase(names, "raw cross-memory");
  std::erase(names, "raw cross-memory+look");
  return names;
}

void expect_sound(const nlohmann::json& row, const std::string& buffers) {
  EXPECT_EQ(row["transport"], "shm");
  EXPECT_EQ(row["buffers"], buffers);
  EXPECT_GT(row["median_us"], 0);
  EXPECT_LE(row["lo_us"], row["median_us"]);
  EXPECT_GT(row["probe_ns"], 0);
  EXPECT_GT(row["ratio_to_limit"], 0);
}

using Names = std::vector<std::string>;

TEST(ParleyBenchLimits, HasARowForEachLoop) {
  const RowFile file;
  ASSERT_EQ(run_bench("limits --rounds 1 --round-ms 0.001 --sizes 8,1M --json " + file.path()), 0);
  const auto rows = file.rows();
  EXPECT_EQ(systems(rows, "latency"),
            (Names{"raw cell", "raw copied-reused", "raw copied-rotating", "raw mapped", "raw copied-reused",
                   "raw copied-rotating", "raw copied-past-caches", "raw mapped"}));
  EXPECT_EQ(systems(rows, "bandwidth"),
            (Names{"raw ring", "raw ring-stream", "raw copied-reused", "raw copied-rotating", "raw mapped",
                   "raw copied-reused", "raw copied-rotating", "raw copied-past-caches", "raw mapped"}));
  EXPECT_EQ(systems(rows, "message-rate"),
            (Names{"raw ring", "raw ring-stream", "raw copied-reused", "raw copied-rotating",
                   "raw copied-reused", "raw copied-rotating", "raw copied-past-caches"}));
  int best = 0;
  for (const auto& row : rows) {
    expect_sound(row, "kept");
    if (row["op"] == "latency" && row["bytes"] == 8 && row["ratio_to_limit"] == 1) ++best;
  }
  EXPECT_GE(best, 1);
}

// What is received is compared with what was written last: a loop that delivers an older message fails.
TEST(ParleyBenchLimits, RewritesBuffersBetweenExchanges) {
  const RowFile file;
  ASSERT_EQ(
      run_bench(
          "limits --rewrite --ops latency,bandwidth --rounds 1 --round-ms 0.001 --sizes 8,100000 --json " +
          file.path()),
      0);
  for (const auto& row : file.rows()) expect_sound(row, "rewritten");
}

TEST(ParleyBenchSharedMemory, HasTheLibraryBesideTheLoops) {
  const RowFile file;
  for (const std::string op : {"latency", "bandwidth", "message-rate"}) {
    ASSERT_EQ(
        run_bench(op + " --transport shm --rounds 1 --round-ms 0.001 --sizes 8,100000 --json " + file.path()),
        0);
  }
  int library = 0;
  for (const auto& row : file.rows()) {
    expect_sound(row, "kept");
    if (row["system"] == "parley") ++library;
  }
  EXPECT_EQ(library, 6);
  ASSERT_EQ(
      run_bench("latency --transport shm --rewrite --rounds 1 --round-ms 0.001 --sizes 8,100000 --json " +
                file.path()),
      0);
  expect_sound(file.rows().back(), "rewritten");
}

TEST(ParleyBenchSharedMemory, HasTheLibraryInItsArenaBesideTheLoops) {
  const RowFile file;
  for (const std::string options : {"--arena", "--arena --no-cma --rewrite"}) {
    ASSERT_EQ(run_bench("bandwidth --transport shm --rounds 1 --round-ms 0.001 --sizes 8,100000 " + options +
                        " --json " + file.path()),
              0);
  }
  int library = 0;
  for (const auto& row : file.rows())
    if (row["system"] == "parley-arena") ++library;
  EXPECT_EQ(library, 4);
}

TEST(ParleyBenchSharedMemory, HasCollectivesBesideTheLoops) {
  const RowFile file;
  const std::string common =
      "all_reduce --transport shm --rounds 1 --round-ms 0.001 --sizes 8,100000 --json ";
  ASSERT_EQ(run_bench(common + file.path() + " --ranks 3"), 0);
  ASSERT_EQ(run_bench(common + file.path() + " --arena --rewrite"), 0);
  int library = 0;
  int in_arena = 0;
  for (const auto& row : file.rows()) {
    EXPECT_EQ(row["wrong"], 0);
    EXPECT_GT(row["limit_us"], 0);
    EXPECT_GT(row["ratio_to_limit"], 0);
    if (row["system"] == "parley") ++library;
    if (row["system"] == "parley-arena") ++in_arena;
  }
  EXPECT_EQ(library, 2);
  EXPECT_EQ(in_arena, 2);
}

// Each loop then runs twice, for which way of giving the core away is the faster one is not known before.
TEST(ParleyBenchLimits, PairsShareCores) {
  const RowFile file;
  const int ranks = 2 * (static_cast<int>(parley::base::usable_cores().size()) / 2 + 1);
  ASSERT_EQ(run_bench("limits --ops latency --ranks " + std::to_string(ranks) +
                      " --rounds 1 --round-ms 0.001 --sizes 8 --json " + file.path()),
            0);
  const auto rows = file.rows();
  EXPECT_EQ(systems(rows, "latency"),
            (Names{"raw cell", "raw cell+look", "raw copied-reused", "raw copied-reused+look",
                   "raw copied-rotating", "raw copied-rotating+look", "raw mapped", "raw mapped+look"}));
  for (const auto& row : rows) {
    EXPECT_EQ(row["ranks"], ranks);
    expect_sound(row, "kept");
    EXPECT_EQ(std::string(row["void"].dump()).find("a flag took"), std::string::npos);
  }
}

// A port that nobody uses at this moment.
int free_port() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  EXPECT_EQ(::bind(fd, reinterpret_cast<const sockaddr*>(&address), length), 0);
  EXPECT_EQ(::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length), 0);
  ::close(fd);
  return ntohs(address.sin_port);
}

// A rank that nobody supervises, as under a launcher of another kind; stdout and stderr come through a pipe.
class Rank {
 public:
  Rank(int rank, int port, const std::string& arguments) {
    std::array<int, 2> pipe{};
    EXPECT_EQ(::pipe2(pipe.data(), O_CLOEXEC), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(pipe[1], 1);
      ::dup2(pipe[1], 2);
      ::setenv("RANK", std::to_string(rank).c_str(), 1);
      ::setenv("WORLD_SIZE", "2", 1);
      ::setenv("MASTER_ADDR", "127.0.0.1", 1);
      ::setenv("MASTER_PORT", std::to_string(port).c_str(), 1);
      const std::string command = std::string("exec ") + PARLEY_BENCH_PROGRAM + " " + arguments;
      ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
      ::_exit(127);
    }
    ::close(pipe[1]);
    output_ = pipe[0];
  }
  ~Rank() {
    kill();
    ::close(output_);
  }
  Rank(const Rank&) = delete;
  Rank& operator=(const Rank&) = delete;

  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }
  // Reads until `text` has come, or to the end when it is empty. False after a minute.
  bool read_until(const std::string& text) {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (text.empty() || said_.find(text) == std::string::npos) {
      pollfd wait{output_, POLLIN, 0};
      if (::poll(&wait, 1, 1000) == 0 && std::chrono::steady_clock::now() > limit) return false;
      std::array<char, 4096> bytes{};
      if (wait.revents == 0) continue;
      const ssize_t count = ::read(output_, bytes.data(), bytes.size());
      if (count <= 0) return text.empty();
      said_.append(bytes.data(), static_cast<std::size_t>(count));
    }
    return true;
  }
  // Of a rank that ends by itself: after read_until("").
  int exit_code() {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  }
  [[nodiscard]] const std::string& said() const { return said_; }

 private:
  pid_t pid_ = -1;
  int output_ = -1;
  std::string said_;
};

TEST(ParleyBenchLimits, AKilledPartnerEndsTheOther) {
  const int port = free_port();
  // Rounds of ten seconds: the survivor is in the midst of a loop, not between two.
  const std::string arguments = "limits --ops latency --sizes 8 --rounds 1000 --round-ms 10000";
  for (const bool leader_dies : {false, true}) {
    Rank leader(0, port, arguments);
    Rank follower(1, port, arguments);
    ASSERT_TRUE(leader.read_until("# latency")) << leader.said() << follower.said();
    // Not needed for the verdict: most likely a loop is running now.
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    Rank& victim = leader_dies ? leader : follower;
    Rank& survivor = leader_dies ? follower : leader;
    victim.kill();
    ASSERT_TRUE(survivor.read_until("")) << "still running a minute later: " << survivor.said();
    EXPECT_EQ(survivor.exit_code(), 1);
    EXPECT_NE(survivor.said().find("parley-bench: "), std::string::npos) << survivor.said();
  }
}

}  // namespace
