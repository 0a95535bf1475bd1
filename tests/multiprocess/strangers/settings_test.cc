// Whole jobs under each way to prove, not to prove, and to encrypt.

#include <gtest/gtest.h>
#include <parley/log.h>
#include <parley/parley.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/multiprocess/support/ranks.h"
#include "transport/socket/secure_stream.h"

namespace parley::testing {
namespace {

// A variable of this process, which launches the ranks and serves their store, and of all ranks.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) { setenv(name, value.c_str(), 1); }
  ~Variable() { unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

// Every rank sends to every other, small and large, and sees every byte.
void expect_works(ProcessGroup& world) {
  for (const std::size_t bytes : {0UL, 8UL, 5'000UL, 70'000UL, 9'000'000UL}) {
    for (int other = 0; other < world.size(); ++other) {
      const auto content = [&](int from) {
        std::vector<std::uint8_t> made(bytes);
        for (std::size_t i = 0; i < bytes; ++i)
          made[i] = static_cast<std::uint8_t>(i * 7 + i / 251 + static_cast<std::size_t>(from));
        return made;
      };
      const auto out = content(world.rank());
      std::vector<std::uint8_t> in(bytes);
      world.sendrecv(out, other, in, other);
      expect(in == content(other), "content of " + std::to_string(bytes) + " bytes");
    }
  }
  world.barrier();
}

// All its links are connections, to which the settings apply.
int run_job() {
  const RanksOptions over_tcp{.environment = {{"PARLEY_TRANSPORTS", "tcp"}}};
  return run_ranks(
      3,
      [](int, int) {
        ProcessGroup world = init();
        expect_works(world);
      },
      over_tcp);
}

TEST(Settings, AnEncryptedJobWorks) {
  const Variable tls("PARLEY_TLS", "1");
  if (socket::tls_available()) {
    EXPECT_EQ(run_job(), 0);
  } else {
    EXPECT_THROW(run_job(), Error);
  }
}

TEST(Settings, AJobWithoutAuthenticationWorks) {
  const Variable off("PARLEY_AUTH", "off");
  EXPECT_EQ(run_job(), 0);
}

TEST(Settings, OneRankThatEncryptsIsToldWhatIsWrong) {
  if (!socket::tls_available()) return;
  const int code = run_ranks(1, [](int, int) {
    InitOptions options;
    options.world_size = 2;
    options.tls = true;
    const auto error = expect_throws<StoreError>([&] { init(options); });
    expect_contains(error.what(), "TLS is on at the dialler and off at the listener");
    expect_contains(error.what(), "PARLEY_TLS");
  });
  EXPECT_EQ(code, 0);
}

TEST(Settings, OneRankWithoutAuthenticationIsToldWhatIsWrong) {
  const int code = run_ranks(1, [](int, int) {
    setenv("PARLEY_AUTH", "off", 1);
    InitOptions options;
    options.world_size = 2;
    const auto error = expect_throws<StoreError>([&] { init(options); });
    expect_contains(error.what(), "PARLEY_AUTH=off");
  });
  EXPECT_EQ(code, 0);
}

// A secret in a private file.
class SecretFile {
 public:
  explicit SecretFile(const std::string& secret) {
    path_ = ::testing::TempDir() + "parley_settings_XXXXXX";
    const int fd = mkstemp(path_.data());  // mode 0600
    const auto size = static_cast<ssize_t>(secret.size());
    EXPECT_EQ(write(fd, secret.data(), secret.size()), size);
    close(fd);
  }
  ~SecretFile() { unlink(path_.c_str()); }
  SecretFile(const SecretFile&) = delete;
  SecretFile& operator=(const SecretFile&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// What every process of this machine was started with; of those that end meanwhile, nothing.
void expect_in_no_command_line(const std::string& secret) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::ifstream file(entry.path() / "cmdline");
    const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    expect(text.find(secret) == std::string::npos, "no secret in " + entry.path().string());
  }
}

TEST(Settings, ASecretOfAFileReachesAllAndShowsNowhere) {
  const std::string secret = "s3cret-of-a-file-that-nobody-may-see";
  const SecretFile file(secret + "\n");
  const Variable setting("PARLEY_SECRET_FILE", file.path());
  static std::atomic<int> lines{0}, leaks{0};
  set_log_level(LogLevel::debug);
  set_log_sink([&](const LogRecord& record) {
    ++lines;
    if (record.message.find(secret) != std::string_view::npos) ++leaks;
  });
  const int code = run_ranks(3, [&](int, int) {
    // Somebody with another secret is refused, which is logged on both sides.
    TcpStoreOptions wrong;
    wrong.host = std::getenv("MASTER_ADDR");
    wrong.port = static_cast<std::uint16_t>(std::stoi(std::getenv("MASTER_PORT")));
    wrong.secret = "another secret, which is no good here";
    const std::string what = expect_throws<StoreError>([&] { connect_tcp_store(wrong); }).what();
    if (socket::tls_available()) expect_contains(what, "secrets differ");
    expect(what.find(secret) == std::string::npos, "no secret in the error");
    ProcessGroup world = init();
    expect_works(world);
    expect_in_no_command_line(secret);
    expect(lines > 0 && leaks == 0, "no secret in the log of a rank");
  });
  set_log_sink({});
  set_log_level(LogLevel::warn);
  EXPECT_EQ(code, 0);
  EXPECT_GT(lines, 0);
  EXPECT_EQ(leaks, 0);
}

}  // namespace
}  // namespace parley::testing
