#include "transport/base/last_cache.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "tests/unit/base/host_root.h"

namespace parley::base {
namespace {

// Of the cores of a host the fourth one is described.
class LastCaches : public HostRoot {
 protected:
  static constexpr std::uint16_t core = 3;

  void describe(int level, const std::string& type, const std::string& size, const std::string& cores) {
    const std::string cache = "/sys/devices/system/cpu/cpu3/cache/index" + std::to_string(described_++);
    write(cache + "/level", std::to_string(level) + '\n');
    write(cache + "/type", type + '\n');
    write(cache + "/size", size + '\n');
    write(cache + "/shared_cpu_list", cores + '\n');
  }
  void expect(std::size_t bytes, std::uint32_t cores) const {
    const LastCache last = last_cache_of(core, root_);
    EXPECT_EQ(last.bytes, bytes);
    EXPECT_EQ(last.cores, cores);
  }

 private:
  int described_ = 0;
};

TEST_F(LastCaches, IsTheOneOfTheHighestLevel) {
  describe(1, "Data", "32K", "3");
  describe(1, "Instruction", "64K", "3");
  describe(3, "Unified", "32768K", "0-7,64-71");
  describe(2, "Unified", "512K", "3,67");
  expect(std::size_t{32} << 20, 16);
}

TEST_F(LastCaches, CountsTheCoresThatShareIt) {
  describe(2, "Unified", "1024K", "0-1,3,10-12");
  expect(std::size_t{1} << 20, 6);
}

TEST_F(LastCaches, IsUnknownWhereNothingIsSaidOfIt) {
  expect(0, 1);
  describe(1, "Instruction", "64K", "3");
  expect(0, 1);
}

TEST_F(LastCaches, LeavesOutWhatItCannotRead) {
  describe(1, "Data", "32K", "3");
  for (const char* size : {"", "lots", "7", "7G", "-1K"}) describe(2, "Unified", size, "3");
  for (const char* cores : {"", "none", "3-", "3-1", "3;4"}) describe(3, "Unified", "512K", cores);
  expect(std::size_t{32} << 10, 1);
}

TEST(LastCache, OfACoreThatIsNotThereIsUnknown) {
  EXPECT_EQ(last_cache_of(UINT16_MAX).bytes, 0U);
}

}  // namespace
}  // namespace parley::base
