#include "api/launch/program.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace parley::launch {
namespace {

// A folder of its own for each test, with PATH set to it.
class FindProgram : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "/parley-program-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    saved_path_ = std::getenv("PATH");
    ::setenv("PATH", ("/nowhere:" + folder_).c_str(), 1);
  }
  void TearDown() override {
    ::setenv("PATH", saved_path_.c_str(), 1);
    std::filesystem::remove_all(folder_);
  }
  void make_file(const std::string& name, mode_t mode) const {
    std::ofstream(folder_ + "/" + name) << "#!/bin/sh\n";
    ASSERT_EQ(chmod((folder_ + "/" + name).c_str(), mode), 0);
  }
  std::string folder_;
  std::string saved_path_;
};

TEST_F(FindProgram, SearchesPath) {
  make_file("tool", 0755);
  EXPECT_EQ(find_program("tool").path, folder_ + "/tool");
}

TEST_F(FindProgram, TakesANameWithASlashAsItIs) {
  make_file("tool", 0755);
  EXPECT_EQ(find_program(folder_ + "/tool").path, folder_ + "/tool");
}

TEST_F(FindProgram, SaysNotFound) {
  for (const std::string& name : {std::string("nothing"), folder_ + "/nothing", std::string()}) {
    const ProgramSearch search = find_program(name);
    EXPECT_EQ(search.path, "");
    EXPECT_EQ(search.exit_code, 127) << name;
    EXPECT_NE(search.reason, "");
  }
}

TEST_F(FindProgram, SaysNotExecutable) {
  make_file("data", 0644);
  EXPECT_EQ(find_program(folder_ + "/data").exit_code, 126);
  EXPECT_EQ(find_program("data").exit_code, 126);
  EXPECT_EQ(find_program(folder_).exit_code, 126);
}

TEST(OwnProgram, IsWhatTheKernelSays) {
  const Program program = own_program();
  EXPECT_TRUE(std::filesystem::equivalent(program.path, "/proc/self/exe"));
  EXPECT_NE(program.path, "/proc/self/exe");
  ASSERT_FALSE(program.arguments.empty());
  EXPECT_TRUE(program.arguments[0].ends_with("unit_launch")) << program.arguments[0];
}

}  // namespace
}  // namespace parley::launch
