// Messages between devices from a few bytes to 1 GiB, every byte checked, and that none lies beside them.

#include <gtest/gtest.h>
#include <parley/parley.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "tests/multiprocess/device/device_rank.h"
#include "tests/multiprocess/support/ranks.h"

namespace parley::testing {
namespace {

using Bytes = std::vector<std::byte>;

constexpr std::size_t margin = 256;  // behind each message: nothing may come there
constexpr std::size_t most_simulated = std::size_t{2} << 20;
constexpr std::size_t most_odd = std::size_t{64} << 20;

// 8 B times powers of 4, an odd size above each of the smaller ones, and `most`.
std::vector<std::size_t> sizes_up_to(std::size_t most) {
  std::vector<std::size_t> sizes;
  for (std::size_t bytes = 8; bytes < most; bytes *= 4) {
    sizes.push_back(bytes);
    if (bytes <= most_odd) sizes.push_back(std::min(bytes + bytes / 2 + 1, most));
  }
  sizes.push_back(most);
  return sizes;
}

void expect_untouched(const Bytes& found, std::size_t from) {
  expect(std::all_of(found.begin() + static_cast<std::ptrdiff_t>(from), found.end(),
                     [](std::byte byte) { return byte == std::byte{}; }),
         "what lies behind " + std::to_string(from) + " bytes is as it was");
}

void send_all_sizes(ProcessGroup& world, DeviceRank& device, std::size_t most) {
  for (const std::size_t bytes : sizes_up_to(most)) {
    const DeviceBuffer buffer(device, bytes + margin);
    if (world.rank() == 0) {
      buffer.upload(pattern(bytes, bytes));
      world.send(buffer.tensor(bytes), 1);
    } else {
      buffer.upload(Bytes(bytes + margin));
      expect_equal(world.recv(buffer.tensor(bytes), 0).bytes, bytes, "bytes");
      Bytes found = buffer.download(bytes + margin);
      expect_untouched(found, bytes);
      found.resize(bytes);
      expect_pattern(found, bytes);
    }
  }
}

TEST(DeviceSizes, UpToOneGibibyte) {
  const std::size_t most = DeviceRank::is_real() ? std::size_t{1} << 30 : most_simulated;
  const int code = run_ranks(2,
                             [most](int, int) {
                               DeviceRank device;
                               ProcessGroup world = init();
                               send_all_sizes(world, device, most);
                               world.barrier();
                               destroy();
                             },
                             {.timeout = std::chrono::seconds(120)});
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace parley::testing
