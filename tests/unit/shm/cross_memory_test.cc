#include "transport/shm/cross_memory.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <vector>

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

// Also there where it does not copy at once, piece by piece.
TEST(CrossMemory, IsReadFromAndToEverywhere) {
  constexpr std::size_t most = 40'000;
  std::vector<std::byte> from(most + 64);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i * 7 + i / 256);
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{2049}, std::size_t{16} << 10, most}) {
    for (std::size_t place = 0; place < 48; ++place) {
      // As far from `from`, modulo a page, as the places are from each other.
      std::vector<std::byte> to(most + 4096 + 64, std::byte{0xee});
      const std::size_t phase =
          (reinterpret_cast<std::uintptr_t>(from.data()) - reinterpret_cast<std::uintptr_t>(to.data())) %
          4096;
      std::byte* const target = to.data() + phase + place;
      const auto address = std::uint64_t{reinterpret_cast<std::uintptr_t>(from.data() + 5)};
      ASSERT_TRUE(read_process_memory(getpid(), address, {target, bytes}).ok());
      ASSERT_TRUE(std::equal(target, target + bytes, from.data() + 5)) << bytes << " bytes at " << place;
      ASSERT_EQ(target[bytes], std::byte{0xee});
    }
  }
}

TEST(CrossMemory, OfNobodyIsNotRead) {
  std::vector<std::byte> to(40'000);
  for (std::size_t place = 0; place < 4096; place += 16) {
    const auto address = std::uint64_t{reinterpret_cast<std::uintptr_t>(to.data())} % 4096 + place;
    EXPECT_EQ(read_process_memory(getpid(), address, {to.data(), to.size()}).native(), EFAULT) << place;
  }
}

}  // namespace
}  // namespace parley::transport::shm
