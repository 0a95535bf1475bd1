#include "transport/socket/secret.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <parley/error.h>
#include <parley/log.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "transport/socket/cookie_file.h"
#include "transport/socket/secure_stream.h"

namespace parley::socket {
namespace {

namespace fs = std::filesystem;

// A home of its own, and the user's environment restored afterwards.
class Secret : public ::testing::Test {
 protected:
  Secret() {
    std::string pattern = ::testing::TempDir() + "parley_secret_XXXXXX";
    folder_ = mkdtemp(pattern.data());
    setenv("XDG_CONFIG_HOME", folder_.c_str(), 1);
    forget_settings();
  }
  ~Secret() override {
    unsetenv("XDG_CONFIG_HOME");
    forget_settings();
    fs::remove_all(folder_);
  }
  fs::path cookie() const { return folder_ / "parley" / "cookie"; }
  void write_cookie(const std::string& text, mode_t mode = 0600) const {
    fs::create_directories(cookie().parent_path());
    std::ofstream(cookie()) << text;
    ASSERT_EQ(chmod(cookie().c_str(), mode), 0);
  }
  static mode_t mode_of(const fs::path& path) {
    struct stat facts {};
    EXPECT_EQ(stat(path.c_str(), &facts), 0);
    return facts.st_mode & 07777;
  }
  static void forget_settings() {
    for (const char* name : {"PARLEY_SECRET", "PARLEY_SECRET_FILE", "PARLEY_AUTH", "PARLEY_TLS"})
      unsetenv(name);
  }
  // Writes what PARLEY_SECRET_FILE names.
  void write_secret_file(const std::string& text, mode_t mode = 0600) const {
    std::ofstream(secret_file()) << text;
    ASSERT_EQ(chmod(secret_file().c_str(), mode), 0);
    setenv("PARLEY_SECRET_FILE", secret_file().c_str(), 1);
  }
  fs::path secret_file() const { return folder_ / "secret"; }
  void expect_secret_file_refused(const std::string& why) const {
    try {
      resolve_secret("");
      FAIL() << "accepted";
    } catch (const SystemError& error) {
      const std::string text = error.what();
      EXPECT_NE(text.find(secret_file().string()), std::string::npos) << text;
      EXPECT_NE(text.find("PARLEY_SECRET_FILE"), std::string::npos) << text;
      EXPECT_NE(text.find(why), std::string::npos) << text;
    }
  }
  // Expects a SystemError that names the file, the way out and `why`.
  void expect_refused(const std::string& why) const {
    try {
      resolve_secret("");
      FAIL() << "accepted";
    } catch (const SystemError& error) {
      const std::string text = error.what();
      EXPECT_NE(text.find(cookie().string()), std::string::npos) << text;
      EXPECT_NE(text.find("PARLEY_SECRET"), std::string::npos) << text;
      EXPECT_NE(text.find(why), std::string::npos) << text;
    }
  }

  fs::path folder_;
};

bool is_secret(const std::string& text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

TEST_F(Secret, MadeSecretsAre64HexadecimalDigitsAndDiffer) {
  std::set<std::string> made;
  for (int i = 0; i < 100; ++i) {
    const auto secret = make_secret();
    EXPECT_TRUE(is_secret(secret));
    made.insert(secret);
  }
  EXPECT_EQ(made.size(), 100u);
}

TEST_F(Secret, ExplicitBeatsFileBeatsEnvironmentBeatsCookie) {
  const auto cookie_secret = resolve_secret("");
  EXPECT_TRUE(is_secret(cookie_secret));
  setenv("PARLEY_SECRET", "a secret from the environment", 1);
  EXPECT_EQ(resolve_secret(""), "a secret from the environment");
  write_secret_file("a secret from a file");
  EXPECT_EQ(resolve_secret(""), "a secret from a file");
  EXPECT_EQ(resolve_secret("a secret from the caller"), "a secret from the caller");
  unsetenv("PARLEY_SECRET_FILE");
  setenv("PARLEY_SECRET", "", 1);
  EXPECT_EQ(resolve_secret(""), cookie_secret);
}

TEST_F(Secret, TheCookieIsPrivateAndStays) {
  const mode_t before = umask(0);
  const auto secret = resolve_secret("");
  umask(before);
  EXPECT_EQ(mode_of(cookie()), 0600u);
  EXPECT_EQ(mode_of(cookie().parent_path()), 0700u);
  EXPECT_EQ(resolve_secret(""), secret);
}

TEST_F(Secret, WithoutXdgTheCookieIsInTheHomeFolder) {
  const std::string home_before = getenv("HOME") != nullptr ? getenv("HOME") : "";
  setenv("XDG_CONFIG_HOME", "not/absolute", 1);
  setenv("HOME", folder_.c_str(), 1);
  EXPECT_EQ(cookie_path(), (folder_ / ".config" / "parley" / "cookie").string());
  EXPECT_TRUE(is_secret(resolve_secret("")));
  EXPECT_TRUE(fs::exists(folder_ / ".config" / "parley" / "cookie"));
  setenv("HOME", home_before.c_str(), 1);
}

TEST_F(Secret, ACookieThatOthersCanReadIsRefused) {
  const std::string text(64, 'a');
  for (const mode_t mode : {0640, 0604, 0620, 0602}) {
    write_cookie(text, mode);
    expect_refused("others may read it");
  }
  write_cookie(text);
  EXPECT_EQ(resolve_secret(""), text);
}

TEST_F(Secret, ADamagedCookieIsRefused) {
  for (const std::string& text :
       {std::string(), std::string(63, 'a'), std::string(66, 'a'), std::string(64, 'x')}) {
    write_cookie(text);
    expect_refused("damaged");
  }
  write_cookie(std::string(100'000, 'a'));
  expect_refused("more than");
}

TEST_F(Secret, ALinkAFolderAndAPipeAreRefused) {
  fs::create_directories(cookie().parent_path());
  std::ofstream(folder_ / "elsewhere") << std::string(64, 'a');
  fs::create_symlink(folder_ / "elsewhere", cookie());
  expect_refused("symbolic link");
  fs::remove(cookie());
  fs::create_directory(cookie());
  expect_refused("not a regular file");
  fs::remove(cookie());
  ASSERT_EQ(mkfifo(cookie().c_str(), 0600), 0);
  expect_refused("not a regular file");
}

TEST_F(Secret, AHomeThatCannotHoldItIsNamed) {
  std::ofstream(folder_ / "parley") << "a file where the folder should be";
  expect_refused("Not a directory");
}

TEST_F(Secret, AllWhoStartTogetherGetOneCookie) {
  for (int round = 0; round < 20; ++round) {
    fs::remove_all(cookie().parent_path());
    std::vector<std::string> secrets(8);
    std::vector<std::thread> threads;
    for (auto& secret : secrets)
      threads.emplace_back([&secret, path = cookie().string()] { secret = read_or_make_cookie(path); });
    for (auto& thread : threads) thread.join();
    for (const auto& secret : secrets) ASSERT_EQ(secret, secrets.front());
    ASSERT_TRUE(is_secret(secrets.front()));
    // No drafts are left.
    const auto files = fs::directory_iterator(cookie().parent_path());
    ASSERT_EQ(std::distance(begin(files), end(files)), 1);
  }
}

TEST_F(Secret, OneNewlineAtTheEndOfTheFileDoesNotCount) {
  const std::string text = "a secret with spaces\nand two lines";
  for (const char* end : {"", "\n", "\r\n"}) {
    write_secret_file(text + end);
    EXPECT_EQ(resolve_secret(""), text);
  }
  write_secret_file(text + "\n\n");
  EXPECT_EQ(resolve_secret(""), text + "\n");
  const std::string longest(4096, 's');
  write_secret_file(longest);
  EXPECT_EQ(resolve_secret(""), longest);
}

TEST_F(Secret, ASecretFileThatOthersCanReadIsRefused) {
  setenv("PARLEY_SECRET", "a secret that must not be used instead", 1);
  for (const mode_t mode : {0640, 0604, 0620, 0602, 0610, 0601}) {
    write_secret_file("a secret from a file", mode);
    expect_secret_file_refused("others may read it");
  }
  write_secret_file("a secret from a file", 0400);
  EXPECT_EQ(resolve_secret(""), "a secret from a file");
}

TEST_F(Secret, ASecretFileOfAnotherUserIsRefused) {
  if (geteuid() == 0) {
    write_secret_file("a secret from a file");
    ASSERT_EQ(chown(secret_file().c_str(), 1, 1), 0);
    expect_secret_file_refused("it belongs to user 1, not to 0");
  } else {
    setenv("PARLEY_SECRET_FILE", "/etc/passwd", 1);  // root's
    EXPECT_THROW(resolve_secret(""), SystemError);
  }
}

TEST_F(Secret, AnUnusableSecretFileIsAnErrorAndNothingElseIsTaken) {
  setenv("PARLEY_SECRET", "a secret that must not be used instead", 1);
  setenv("PARLEY_SECRET_FILE", secret_file().c_str(), 1);
  expect_secret_file_refused("there is no such file");
  for (const char* nothing : {"", "\n", "\r\n"}) {
    write_secret_file(nothing);
    expect_secret_file_refused("it is empty");
  }
  write_secret_file(std::string(4097, 's'));
  expect_secret_file_refused("more than 4096 bytes");
  fs::remove(secret_file());
  fs::create_directory(secret_file());
  expect_secret_file_refused("not a regular file");
  fs::remove(secret_file());
  ASSERT_EQ(mkfifo(secret_file().c_str(), 0600), 0);
  expect_secret_file_refused("not a regular file");
}

TEST_F(Secret, ALinkToAPrivateFileIsFollowed) {
  std::ofstream(folder_ / "elsewhere") << "a secret elsewhere";
  fs::create_symlink(folder_ / "elsewhere", secret_file());
  setenv("PARLEY_SECRET_FILE", secret_file().c_str(), 1);
  ASSERT_EQ(chmod((folder_ / "elsewhere").c_str(), 0644), 0);
  expect_secret_file_refused("others may read it");
  ASSERT_EQ(chmod((folder_ / "elsewhere").c_str(), 0600), 0);
  EXPECT_EQ(resolve_secret(""), "a secret elsewhere");
}

TEST_F(Secret, AuthenticationIsOnUnlessSwitchedOffInTheseWords) {
  EXPECT_TRUE(resolve_credentials("a secret from the caller", false).authenticate);
  setenv("PARLEY_AUTH", "on", 1);
  EXPECT_TRUE(resolve_credentials("a secret from the caller", false).authenticate);
  for (const char* text : {"0", "no", "OFF", "false", "off-"}) {
    setenv("PARLEY_AUTH", text, 1);
    EXPECT_THROW(resolve_credentials("a secret from the caller", false), UsageError) << text;
  }
  setenv("PARLEY_AUTH", "off", 1);
  const auto credentials = resolve_credentials("a secret from the caller", false);
  EXPECT_FALSE(credentials.authenticate);
  EXPECT_TRUE(credentials.secret.empty());
  EXPECT_FALSE(fs::exists(cookie())) << "no cookie is made";
}

TEST_F(Secret, TlsIsOffUnlessTheCallerOrTheVariableSaysOtherwise) {
  const std::string secret = "a secret from the caller";
  EXPECT_FALSE(resolve_credentials(secret, std::nullopt).encrypt);
  setenv("PARLEY_TLS", "0", 1);
  EXPECT_FALSE(resolve_credentials(secret, std::nullopt).encrypt);
  for (const char* text : {"on", "yes", "2", "true"}) {
    setenv("PARLEY_TLS", text, 1);
    EXPECT_THROW(resolve_credentials(secret, std::nullopt), UsageError) << text;
  }
  setenv("PARLEY_TLS", "1", 1);
  EXPECT_FALSE(resolve_credentials(secret, false).encrypt);
  if (!tls_available()) {
    EXPECT_THROW(resolve_credentials(secret, std::nullopt), UsageError);
    return;
  }
  EXPECT_TRUE(resolve_credentials(secret, std::nullopt).encrypt);
  unsetenv("PARLEY_TLS");
  EXPECT_TRUE(resolve_credentials(secret, true).encrypt);
  setenv("PARLEY_AUTH", "off", 1);
  EXPECT_THROW(resolve_credentials(secret, true), UsageError);
}

TEST_F(Secret, AShortSecretIsWarnedAboutOnceAndNeverShown) {
  static bool warned_before = false;  // under --gtest_repeat
  std::vector<std::string> lines;
  set_log_sink([&](const LogRecord& record) { lines.emplace_back(record.message); });
  EXPECT_EQ(resolve_secret("hunter2"), "hunter2");
  EXPECT_EQ(resolve_secret("hunter2"), "hunter2");
  set_log_sink({});
  ASSERT_EQ(lines.size(), warned_before ? 0u : 1u);
  if (std::exchange(warned_before, true)) return;
  EXPECT_NE(lines[0].find("shorter than 16"), std::string::npos);
  EXPECT_EQ(lines[0].find("hunter2"), std::string::npos);
}

}  // namespace
}  // namespace parley::socket
