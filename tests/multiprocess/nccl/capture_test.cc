// A collective in a stream of which a CUDA graph is captured is refused, and harms neither.

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <parley/parley.h>
#include <parley/stream.h>

#include <cstdint>
#include <vector>

#include "tests/multiprocess/nccl/nccl_rank.h"
#include "tests/multiprocess/support/ranks.h"

namespace parley::testing {
namespace {

// As long as it lives a graph is captured of the stream: by the driver's own calls on a real device.
class Capture {
 public:
  // `is_whole`: whether it has ended well, set in the end.
  Capture(DeviceRank& device, cuda::Stream stream, bool& is_whole)
      : device_(device), stream_(stream), is_whole_(is_whole) {
    if (!DeviceRank::is_real()) {
      device_.simulated().pretend_capture(stream);
      return;
    }
    using Begin = int (*)(cuda::Stream, int mode);
    const auto begin = function<Begin>("cuStreamBeginCapture_v2");
    // As PyTorch's: a call that is forbidden now spoils it, whatever thread makes it.
    constexpr int global = 0;
    expect(begin != nullptr && begin(stream, global) == 0, "cuStreamBeginCapture");
  }
  ~Capture() {
    if (!DeviceRank::is_real()) {
      device_.simulated().pretend_capture(nullptr);
      return;
    }
    using End = int (*)(cuda::Stream, void** graph);
    void* graph = nullptr;
    is_whole_ = function<End>("cuStreamEndCapture")(stream_, &graph) == 0;
  }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

 private:
  template <typename Function>
  static Function function(const char* name) {
    void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    return driver == nullptr ? nullptr : reinterpret_cast<Function>(dlsym(driver, name));
  }

  DeviceRank& device_;
  cuda::Stream stream_;
  bool& is_whole_;
};

TEST(Nccl, ACollectiveInACaptureIsRefused) {
  const int code = run_alone_with_nccl([](NcclRank& own, ProcessGroup& world) {
    const DeviceNumbers numbers(own, 1000);
    const std::vector<std::int64_t> values(1000, 5);
    numbers.put(values);
    world.all_reduce(numbers.tensor());
    cuda::Api& api = own.device().api();
    const cuda::DeviceScope scope(api, 0);
    cuda::Stream stream = nullptr;
    expect(api.create_stream(stream) == cuda::Code::ok, "create_stream");
    bool is_whole = true;
    {
      const StreamGuard guard(stream);
      {
        const Capture capture(own.device(), stream, is_whole);
        const auto error = expect_throws<UsageError>([&] { world.all_reduce(numbers.tensor()); });
        expect_contains(error.what(), "CUDA graph");
      }
      expect(is_whole, "the capture was spoilt");
      world.all_reduce(numbers.tensor());
    }
    expect(api.synchronize(stream) == cuda::Code::ok, "synchronize");
    expect(numbers.get() == values, "all_reduce after the capture");
    expect(api.destroy_stream(stream) == cuda::Code::ok, "destroy_stream");
  });
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace parley::testing
