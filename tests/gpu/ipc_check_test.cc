// The probe of CUDA IPC, tried with simulated devices: one in each process, made when it is asked for.

#include "tests/gpu/ipc_check.h"

#include <gtest/gtest.h>

#include <optional>

#include "tests/simulated_device/simulated_device.h"

namespace parley::tests {
namespace {

using cuda::testing::Call;
using cuda::testing::SimulatedDevice;

// Of a process: its own, whatever it inherited.
std::string check_with(const std::function<void(SimulatedDevice&)>& prepare = {}) {
  std::optional<SimulatedDevice> device;
  return check_ipc([&] {
    device.emplace();
    if (prepare) prepare(*device);
    return &*device;
  });
}

TEST(IpcCheck, FindsThatItWorks) {
  EXPECT_EQ(check_with(), "works");
}

TEST(IpcCheck, SaysWhichCallFailed) {
  const auto refuse_import = [](SimulatedDevice& device) {
    device.fail_next(Call::import_memory, cuda::Code::map_failed);
  };
  EXPECT_EQ(check_with(refuse_import), "no: import_memory: mapping of buffer object failed (CUDA error 205)");
  const auto refuse_export = [](SimulatedDevice& device) {
    device.fail_next(Call::register_host, cuda::Code::not_supported);
  };
  EXPECT_EQ(check_with(refuse_export), "no: register_host: operation not supported (CUDA error 801)");
}

}  // namespace
}  // namespace parley::tests
