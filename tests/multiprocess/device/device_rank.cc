#include "tests/multiprocess/device/device_rank.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "tests/multiprocess/support/ranks.h"
#include "tests/unit/tensor/host_kernels.h"
#include "transport/cuda/runtime.h"

namespace parley::testing {
namespace {

void require(cuda::Api& api, cuda::Code code, const char* what) {
  expect(code == cuda::Code::ok, std::string(what) + ": " + api.describe(code));
}

}  // namespace

DeviceRank::DeviceRank(int physical, int devices) {
  if (!is_real()) {
    simulated_ = std::make_unique<cuda::testing::SimulatedDevice>(
        cuda::testing::SimulatedDevice::Options{.devices = devices, .first_physical = physical});
    for (const auto& entry : tests::host_kernels())
      simulated_->add_kernel(entry.first, [run = entry.second](std::span<const std::byte> arguments,
                                                               const cuda::testing::KernelMemory& memory) {
        run(arguments, 64, [&memory](const void* address) { return memory.reach(address); });
      });
    cuda::replace_runtime(simulated_.get(), "");
  }
  api_ = cuda::runtime();
  expect(api_ != nullptr, cuda::reason_against());
}

DeviceRank::~DeviceRank() {
  if (simulated_ != nullptr) cuda::replace_runtime(nullptr, "the test's device has gone");
}

bool DeviceRank::is_real() {
  const char* const wish = std::getenv("PARLEY_TEST_DEVICE");  // NOLINT(concurrency-mt-unsafe)
  return wish != nullptr && std::string_view(wish) == "cuda";
}

DeviceBuffer::DeviceBuffer(DeviceRank& rank, std::size_t bytes, Source source, int device)
    : rank_(rank), bytes_(bytes), device_(device) {
  const cuda::DeviceScope scope(rank_.api(), device_);
  const std::size_t size = std::max<std::size_t>(bytes, 1);
  require(rank_.api(),
          source == Source::pool ? rank_.simulated().allocate_pool_memory(size, data_)
                                 : rank_.api().allocate(size, data_),
          "allocate");
}

DeviceBuffer::~DeviceBuffer() {
  const cuda::DeviceScope scope(rank_.api(), device_);
  (void)rank_.api().free(data_);
}

Tensor DeviceBuffer::tensor(std::size_t bytes, std::size_t offset) const {
  return Tensor::from_blob(data_ + offset, bytes, DType::bytes, {}, Device{Device::cuda, device_});
}

void DeviceBuffer::upload(const std::vector<std::byte>& content, std::size_t offset) const {
  const cuda::DeviceScope scope(rank_.api(), device_);
  require(rank_.api(), rank_.api().copy(data_ + offset, content.data(), content.size(), cuda::default_stream),
          "copy");
  require(rank_.api(), rank_.api().synchronize(cuda::default_stream), "synchronize");
}

std::vector<std::byte> DeviceBuffer::download(std::size_t bytes, std::size_t offset) const {
  const cuda::DeviceScope scope(rank_.api(), device_);
  std::vector<std::byte> content(bytes);
  if (bytes == 0) return content;
  require(rank_.api(), rank_.api().copy(content.data(), data_ + offset, bytes, cuda::default_stream), "copy");
  require(rank_.api(), rank_.api().synchronize(cuda::default_stream), "synchronize");
  return content;
}

std::vector<std::byte> pattern(std::size_t bytes, std::uint64_t seed) {
  std::vector<std::byte> content(bytes);
  std::uint64_t word = seed * 0x9E3779B97F4A7C15U + 1;
  for (std::size_t at = 0; at < bytes; at += sizeof(word)) {
    word = word * 6364136223846793005U + 1442695040888963407U;
    std::memcpy(content.data() + at, &word, std::min(sizeof(word), bytes - at));
  }
  return content;
}

void expect_pattern(const std::vector<std::byte>& found, std::uint64_t seed) {
  const auto wanted = pattern(found.size(), seed);
  if (found.empty() || std::memcmp(found.data(), wanted.data(), found.size()) == 0) return;
  const auto wrong = std::mismatch(found.begin(), found.end(), wanted.begin()).first;
  expect(wrong == found.end(), std::to_string(found.size()) + " bytes of pattern " + std::to_string(seed) +
                                   ": the first wrong one is " + std::to_string(wrong - found.begin()));
}

}  // namespace parley::testing
