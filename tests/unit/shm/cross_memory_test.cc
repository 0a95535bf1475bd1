#include "transport/shm/cross_memory.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/contract/store/temporary_folder.h"

namespace parley::transport::shm {
namespace {

// Of the other rules nobody can be excepted, or need not be.
TEST(CrossMemory, AsksYamaForItsPeersWhereThatOnlyLetsDescendantsRead) {
  const test::TemporaryFolder folder;
  const std::string file = folder.path() + "/ptrace_scope";
  EXPECT_FALSE(let_peers_read(file.c_str())) << "a kernel without Yama";
  for (const char* content : {"0\n", "1\n", "2\n", "3\n", "", "x\n"}) {
    std::ofstream(file) << content;
    EXPECT_EQ(let_peers_read(file.c_str()), content[0] == '1') << content;
  }
}

}  // namespace
}  // namespace parley::transport::shm
