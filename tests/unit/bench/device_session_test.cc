// Whole measurements on a simulated device, between threads of one process and between processes; nothing is
// expected of figures but that they are there and belong together.
#include <gtest/gtest.h>
#include <parley/launch.h>
#include <parley/testing.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "api/nccl/runtime.h"
#include "bench/buffers.h"
#include "bench/devices/device_library.h"
#include "bench/devices/device_system.h"
#include "bench/devices/figures.h"
#include "bench/devices/rank_device.h"
#include "bench/library_session.h"
#include "bench/rank_main.h"
#include "tests/simulated_device/simulated_device.h"
#include "tests/simulated_nccl/simulated_nccl.h"
#include "tests/unit/bench/program.h"
#include "tests/unit/tensor/host_kernels.h"
#include "transport/cuda/runtime.h"

namespace parley::bench {
namespace {

using Rows = std::vector<Row>;
using cuda::testing::KernelMemory;
using cuda::testing::SimulatedDevice;

// The device of a process, as the library and the measurements find it.
class OwnDevice {
 public:
  OwnDevice() {
    for (const auto& [name, kernel] : tests::host_kernels()) {
      device_.add_kernel(
          name, [&run = kernel](std::span<const std::byte> arguments, const KernelMemory& memory) {
            run(arguments, 64, [&memory](const void* address) { return memory.reach(address); });
          });
    }
    cuda::replace_runtime(&device_, "");
  }
  ~OwnDevice() { cuda::replace_runtime(nullptr, "the test's device has gone"); }
  OwnDevice(const OwnDevice&) = delete;
  OwnDevice& operator=(const OwnDevice&) = delete;

  SimulatedDevice& operator*() noexcept { return device_; }

 private:
  SimulatedDevice device_{{.devices = 2}};
};

class DeviceSession : public ::testing::Test {
 protected:
  // Of rank 0.
  Rows measure(const Options& options, int ranks, std::size_t bytes) {
    Rows rows;
    testing::run_world(ranks, [&](ProcessGroup& group) {
      RankDevice own(*device_, options.nccl ? group.rank() : 0);
      DeviceLibrary library(group, options, own);
      LibrarySession session(library, options, Idle::yield);
      std::optional<Rows> measured = session.measure(bytes);
      ASSERT_EQ(measured.has_value(), group.rank() == 0);
      if (!measured) return;
      compare_with_limit(*measured);
      rows = std::move(*measured);
    });
    return rows;
  }

  OwnDevice device_;
};

Options quick(Op op, DeviceChoice devices = {Memory::cuda, Memory::cuda}) {
  Options options;
  options.op = op;
  options.rounds = 2;
  options.round_ms = 0.01;
  options.transport = "shm";
  options.devices = devices;
  return options;
}

std::vector<std::string> systems_of(const Rows& rows) {
  std::vector<std::string> systems;
  for (const Row& row : rows) systems.push_back(row.system);
  return systems;
}

void expect_sound(const Rows& rows, const Options& options, std::size_t bytes) {
  for (const Row& row : rows) {
    EXPECT_EQ(row.subject.bytes, bytes);
    EXPECT_EQ(to_string(row.subject.devices), to_string(options.devices));
    EXPECT_EQ(row.rounds, 2) << row.system;
    EXPECT_GT(row.lo_us, 0) << row.system;
    EXPECT_LE(row.lo_us, row.hi_us) << row.system;
    ASSERT_TRUE(row.ratio_to_limit) << row.system;
    if (row.system != limit_for(row.subject)) continue;
    EXPECT_EQ(row.ratio_to_limit, 1) << row.system;
  }
}

const std::vector<std::string> beside = {"parley", "raw device copy", "raw pinned to device",
                                         "raw device to pinned"};

TEST_F(DeviceSession, MessagesOfEveryOperationBesideCopies) {
  for (const Op op : {Op::latency, Op::bandwidth, Op::bidirectional, Op::message_rate}) {
    for (const std::size_t bytes : {std::size_t{8}, std::size_t{100'000}}) {
      const Options options = quick(op);
      const Rows rows = measure(options, 2, bytes);
      EXPECT_EQ(systems_of(rows), beside) << to_string(op);
      expect_sound(rows, options, bytes);
    }
  }
}

TEST_F(DeviceSession, OneEndOnTheHost) {
  for (const Op op : {Op::latency, Op::bandwidth, Op::bidirectional}) {
    for (const DeviceChoice devices :
         {DeviceChoice{Memory::cpu, Memory::cuda}, DeviceChoice{Memory::cuda, Memory::cpu}}) {
      const Options options = quick(op, devices);
      expect_sound(measure(options, 2, 70'000), options, 70'000);
    }
  }
}

TEST_F(DeviceSession, OverTcpBesideParleyOnTheHost) {
  Options options = quick(Op::bandwidth);
  options.transport = "tcp";
  const Rows rows = measure(options, 2, 5000);
  ASSERT_EQ(rows.size(), 5U);
  EXPECT_EQ(rows[1].system, "parley host");
  expect_sound(rows, options, 5000);
}

TEST_F(DeviceSession, BuffersWrittenAnew) {
  for (const Op op : {Op::latency, Op::bandwidth, Op::bidirectional}) {
    Options options = quick(op);
    options.rewrite = true;
    expect_sound(measure(options, 2, 1000), options, 1000);
  }
}

TEST_F(DeviceSession, TwoPairsAtOnce) {
  const Options options = quick(Op::bandwidth);
  expect_sound(measure(options, 4, 1000), options, 1000);
}

TEST_F(DeviceSession, EveryElementOfEveryCollectiveIsRight) {
  for (const Op op : {Op::broadcast, Op::reduce, Op::all_reduce, Op::all_gather, Op::reduce_scatter,
                      Op::all_to_all, Op::gather, Op::scatter}) {
    for (const bool rewritten : {false, true}) {
      Options options = quick(op);
      options.rewrite = rewritten;
      const Rows rows = measure(options, 4, 1000);
      EXPECT_EQ(systems_of(rows), (std::vector<std::string>{"parley", "raw device copy"})) << to_string(op);
      expect_sound(rows, options, 1000);
      for (const Row& row : rows) EXPECT_EQ(row.wrong, 0U) << to_string(op) << ' ' << row.system;
    }
  }
}

TEST_F(DeviceSession, CollectivesByNcclBesideOurOwn) {
  const auto fabric = std::make_unique<nccl::testing::Fabric>();
  nccl::testing::SimulatedNccl nccl(*device_, *fabric);
  nccl::replace_runtime(&nccl, "");
  for (const Op op : {Op::all_reduce, Op::all_gather, Op::broadcast}) {
    Options options = quick(op);
    options.nccl = true;
    const Rows rows = measure(options, 2, 4096);
    EXPECT_EQ(systems_of(rows), (std::vector<std::string>{"parley", "parley nccl", "raw device copy"}));
    expect_sound(rows, options, 4096);
    for (const Row& row : rows) EXPECT_EQ(row.wrong.value_or(0), 0U) << row.system;
    EXPECT_FALSE(nccl.operations().empty());
  }
  nccl::replace_runtime(nullptr, "the test is over");
}

TEST_F(DeviceSession, NothingIsLeftOnTheDevice) {
  (void)measure(quick(Op::latency), 2, 1000);
  EXPECT_EQ((*device_).live_allocations(), 0U);
  EXPECT_EQ((*device_).live_events(), 0U);
  EXPECT_EQ((*device_).live_streams(), 0U);
}

// The library's wait() returns earlier, when the stream has been told.
TEST_F(DeviceSession, WhatIsTimedEndsWithTheEventOfTheReceiver) {
  testing::run_world(2, [&](ProcessGroup& group) {
    constexpr std::size_t bytes = 3000;
    const int rank = group.rank();
    RankDevice own(*device_, 0);
    Buffers buffers(bytes, rank, 1 - rank);
    buffers.move_to(own);
    const auto view = [](std::byte* memory) {
      return Tensor::from_blob(memory, bytes, DType::u8, {}, Device{Device::cuda, 0});
    };
    Plan plan;
    plan.window = 4;
    DeviceSystem system(own, group, 1 - rank, view(buffers.twins()->out()), view(buffers.twins()->in()),
                        plan);
    // Of both ranks, which do nothing else then.
    const auto events = [&](const auto& exchange) {
      group.barrier();
      const std::uint64_t before = (*device_).count(cuda::testing::Call::synchronize_event);
      group.barrier();
      exchange();
      group.barrier();
      const std::uint64_t after = (*device_).count(cuda::testing::Call::synchronize_event);
      group.barrier();
      return after - before;
    };
    EXPECT_EQ(events([&] { rank == 0 ? system.send() : system.recv(); }), 1U);
    EXPECT_EQ(events([&] { rank == 0 ? system.send_window() : system.recv_window(); }), 1U);
    EXPECT_EQ(events([&] { system.exchange_windows(); }), 2U);
    EXPECT_NO_THROW(buffers.check_in());
    group.barrier();
  });
}

// What parley-bench does, with a simulated device in each of its processes: the rows of its file.
std::vector<nlohmann::json> measure_in_processes(Options options, int ranks) {
  const RowFile file;
  options.json_file = file.path();
  SpawnOptions plain;
  plain.prefix_output = false;
  ::testing::internal::CaptureStdout();
  const auto rank_of_bench = [&](int, int) {
    const OwnDevice device;
    rank_main(options);
  };
  EXPECT_EQ(spawn(ranks, rank_of_bench, plain), 0);
  const std::string printed = ::testing::internal::GetCapturedStdout();
  EXPECT_NE(printed.find(" (simulated device 0, simulated CUDA driver), "), std::string::npos) << printed;
  return file.rows();
}

TEST(DeviceProcesses, MeasureMessages) {
  for (const char* transport : {"shm", "tcp"}) {
    for (const DeviceChoice devices :
         {DeviceChoice{Memory::cuda, Memory::cuda}, DeviceChoice{Memory::cpu, Memory::cuda}}) {
      Options options = quick(Op::bandwidth, devices);
      options.transport = transport;
      options.sizes = {8, 300'000};
      const auto rows = measure_in_processes(options, 2);
      ASSERT_EQ(rows.size(), is_staged(transport) ? 10U : 8U);
      for (const nlohmann::json& row : rows) {
        EXPECT_EQ(row["device"], to_string(devices));
        EXPECT_FALSE(row["ratio_to_limit"].is_null());
      }
    }
  }
}

TEST(DeviceProcesses, MeasureCollectives) {
  for (const Op op : {Op::all_reduce, Op::all_gather, Op::broadcast}) {
    Options options = quick(op);
    options.sizes = {8, 300'000};
    const auto rows = measure_in_processes(options, 4);
    ASSERT_EQ(rows.size(), 4U);
    for (const nlohmann::json& row : rows) EXPECT_EQ(row["wrong"], 0);
  }
}

}  // namespace
}  // namespace parley::bench
