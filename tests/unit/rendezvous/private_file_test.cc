#include "rendezvous/private_file.h"

#include <gtest/gtest.h>
#include <parley/error.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "tests/contract/store/temporary_folder.h"
#include "tests/unit/rendezvous/pretended.h"

namespace parley::rendezvous {
namespace {

namespace fs = std::filesystem;

class PrivateFile : public testing::Test {
 protected:
  [[nodiscard]] std::string path(const std::string& key) const { return private_file(key, around); }
  [[nodiscard]] std::string error() const {
    try {
      (void)path("key");
    } catch (const SystemError& failure) {
      return failure.what();
    }
    return "no error";
  }

  const test::TemporaryFolder runtime;
  const std::string folder = runtime.path() + "/parley";
  const Surroundings around = pretend({{"XDG_RUNTIME_DIR", runtime.path()}});
};

TEST_F(PrivateFile, IsTheSameForTheSameKeyInAFolderOfTheUserAlone) {
  EXPECT_EQ(path("a"), path("a"));
  EXPECT_NE(path("a"), path("b"));
  EXPECT_EQ(fs::path(path("a")).parent_path(), folder);
  struct stat facts {};
  ASSERT_EQ(stat(folder.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 07777U, 0700U);
}

TEST_F(PrivateFile, AFolderThatOthersMayUseIsRefused) {
  fs::create_directory(folder);
  for (const unsigned mode : {0701U, 0720U, 0755U, 0777U}) {
    ASSERT_EQ(chmod(folder.c_str(), mode), 0);
    EXPECT_NE(error().find(folder + ": others may use it"), std::string::npos) << error();
  }
}

TEST_F(PrivateFile, ALinkOrAFileIsNoFolder) {
  const test::TemporaryFolder elsewhere;
  fs::create_directory_symlink(elsewhere.path(), folder);
  EXPECT_NE(error().find("it is no folder"), std::string::npos) << error();
  fs::remove(folder);
  fs::create_symlink("/nowhere", folder);
  EXPECT_NE(error().find("it is no folder"), std::string::npos) << error();
}

TEST(PrivateFileElsewhere, IsInTmpWithoutARuntimeFolder) {
  const std::string expected = "/tmp/parley-" + std::to_string(geteuid()) + "/job-";
  EXPECT_TRUE(private_file("key", pretend({})).starts_with(expected));
  EXPECT_TRUE(private_file("key", pretend({{"XDG_RUNTIME_DIR", "/no/such/folder"}})).starts_with(expected));
  EXPECT_TRUE(private_file("key", pretend({{"XDG_RUNTIME_DIR", "relative"}})).starts_with(expected));
}

}  // namespace
}  // namespace parley::rendezvous
