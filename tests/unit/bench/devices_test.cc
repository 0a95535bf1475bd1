// What devices need beside a session: memory and its image, the copies that are the limit, tables.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "bench/bandwidth.h"
#include "bench/buffers.h"
#include "bench/collective_buffers.h"
#include "bench/devices/copies.h"
#include "bench/devices/figures.h"
#include "bench/devices/rank_device.h"
#include "bench/phase.h"
#include "bench/table.h"
#include "tests/simulated_device/simulated_device.h"

namespace parley::bench {
namespace {

using cuda::testing::Call;
using cuda::testing::SimulatedDevice;

TEST(DeviceBuffers, AMessageIsComparedWithWhatIsOnTheDevice) {
  SimulatedDevice api;
  RankDevice device(api, 0);
  constexpr std::size_t bytes = 1000;
  Buffers sender(bytes, 0, 1);
  Buffers receiver(bytes, 1, 0);
  sender.move_to(device);
  receiver.move_to(device);
  const auto deliver = [&] {
    receiver.spoil_in();
    device.copy(receiver.twins()->in(), sender.twins()->out(), bytes);
  };
  EXPECT_THROW(receiver.check_in(), std::runtime_error) << "nothing has come";
  deliver();
  EXPECT_NO_THROW(receiver.check_in());
  sender.rewrite_out();
  deliver();
  EXPECT_THROW(receiver.check_in(), std::runtime_error) << "other bytes than before";
  receiver.expect_rewritten();
  EXPECT_NO_THROW(receiver.check_in());
  device.finish();
  *api.reach(receiver.twins()->in() + 999) ^= std::byte{1};
  EXPECT_THROW(receiver.check_in(), std::runtime_error) << "the last byte";
}

TEST(DeviceBuffers, EveryElementOfACollectiveIsComparedToo) {
  SimulatedDevice api;
  RankDevice device(api, 0);
  CollectiveBuffers root(Op::broadcast, 400, 0, 2);
  CollectiveBuffers other(Op::broadcast, 400, 1, 2);
  root.move_to(device);
  other.move_to(device);
  other.called(0);
  EXPECT_EQ(other.count_wrong(), 100U);
  device.copy(other.twins()->in(), root.twins()->out(), 400);
  EXPECT_EQ(other.count_wrong(), 0U);
  root.rewrite_out(), other.rewrite_out();
  device.copy(other.twins()->in(), root.twins()->out(), 396);
  other.called(0);
  EXPECT_EQ(other.count_wrong(), 1U);
}

TEST(DeviceBuffers, WhatTheDeviceRefusesIsSaidInWords) {
  SimulatedDevice api;
  RankDevice device(api, 0);
  api.fail_next(Call::allocate, cuda::Code::out_of_memory);
  try {
    const DeviceBytes memory(device, 1 << 20);
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_EQ(std::string(error.what()).find("device 0: allocating 1M: "), 0U) << error.what();
  }
}

TEST(Copies, AreAsManyAsTheMessagesAndEndWithAnEvent) {
  SimulatedDevice api;
  RankDevice device(api, 0);
  CopyMemory memory(device, 64, 0);
  CopySystem system(memory, memory.source(), memory.target(), 5);
  const auto calls = [&](Op op, Call call) {
    const std::uint64_t before = api.count(call);
    with_exchange(system, op, true, [](auto&& exchange) { exchange(); });
    return api.count(call) - before;
  };
  EXPECT_EQ(calls(Op::latency, Call::copy), 2U) << "there and back";
  EXPECT_EQ(calls(Op::latency, Call::synchronize_event), 2U);
  EXPECT_EQ(calls(Op::bandwidth, Call::copy), 5U);
  EXPECT_EQ(calls(Op::bandwidth, Call::synchronize_event), 1U);
  EXPECT_EQ(calls(Op::bidirectional, Call::copy), 10U);
  EXPECT_EQ(calls(Op::bidirectional, Call::synchronize_event), 1U);
  EXPECT_EQ(std::memcmp(api.reach(memory.target()), api.reach(memory.source()), 64), 0);
  EXPECT_EQ(api.waiting_copies(), 0U);
}

TEST(Copies, OfACollectiveAreWhatMustGoFromRankToRank) {
  EXPECT_EQ(crossings(Op::all_reduce, 4), 6);
  EXPECT_EQ(crossings(Op::broadcast, 4), 3);
  EXPECT_EQ(crossings(Op::gather, 4), 3);
  EXPECT_EQ(crossings(Op::all_gather, 4), 12);
  EXPECT_EQ(crossings(Op::reduce_scatter, 4), 12);
  EXPECT_EQ(crossings(Op::all_to_all, 4), 12);
}

constexpr DeviceChoice on_device{Memory::cuda, Memory::cuda};
constexpr DeviceChoice to_device{Memory::cpu, Memory::cuda};
constexpr DeviceChoice from_device{Memory::cuda, Memory::cpu};

Subject subject_of(Op op, const char* transport, DeviceChoice devices) {
  return {op, transport, 2, 1 << 20, false, devices};
}

TEST(DeviceFigures, TheLimitIsTheWayThatTheBytesGo) {
  EXPECT_EQ(limit_for(subject_of(Op::latency, "shm", on_device)), "raw device copy");
  EXPECT_EQ(limit_for(subject_of(Op::latency, "shm", to_device)), "raw pinned to device");
  EXPECT_EQ(limit_for(subject_of(Op::latency, "shm", from_device)), "raw device to pinned");
  EXPECT_EQ(limit_for(subject_of(Op::latency, "tcp", on_device)), "parley host");
  EXPECT_EQ(limit_for(subject_of(Op::latency, "tcp+tls", to_device)), "parley host");
  EXPECT_EQ(limit_for(subject_of(Op::all_reduce, "tcp", on_device)), "raw device copy");
}

std::vector<Row> rows_of(const Subject& subject) {
  std::vector<Row> rows;
  double us = 1.25;
  for (const auto system : {std::string_view("parley"), device_copy, pinned_to_device, device_to_pinned})
    rows.push_back(make_row(subject, std::string(system), {{us *= 2}, {}, {}}, 61));
  compare_with_limit(rows);
  return rows;
}

TEST(DeviceFigures, ALineForEachSystem) {
  const auto rows = rows_of(subject_of(Op::bandwidth, "shm", on_device));
  EXPECT_EQ(device_header(Op::bandwidth) + device_lines(rows),
            "# bandwidth: MB/s (1e6 bytes), windows answered by a byte\n"
            "# Size  System                      median         min         max   x limit  probe_ns\n"
            "1M      parley                      419430      419430      419430     2.000        61\n"
            "1M      device copy                 209715      209715      209715     1.000        61 limit\n"
            "1M      pinned to device            104858      104858      104858     0.500        61\n"
            "1M      device to pinned             52429       52429       52429     0.250        61\n");
}

TEST(DeviceFigures, LatenciesHavePercentiles) {
  const auto rows = rows_of(subject_of(Op::latency, "shm", to_device));
  const std::string text = device_header(Op::latency) + device_lines(std::span(rows).first(3));
  EXPECT_EQ(text,
            "# latency: one way, microseconds\n"
            "# Size  System                      median         min         max         p99       p99.9   "
            "x limit  probe_ns\n"
            "1M      parley                       2.500       2.500       2.500         nan         nan     "
            "0.250        61\n"
            "1M      device copy                  5.000       5.000       5.000         nan         nan     "
            "0.500        61\n"
            "1M      pinned to device            10.000      10.000      10.000         nan         nan     "
            "1.000        61 limit\n");
}

TEST(DeviceFigures, CallsOfACollectiveEndWithTheirRatio) {
  Subject subject = subject_of(Op::all_reduce, "shm", on_device);
  std::vector<Row> rows{make_row(subject, "parley", {{200}, {}, {}}, 61),
                        make_row(subject, std::string(device_copy), {{100}, {}, {}}, 61)};
  compare_with_limit(rows);
  EXPECT_EQ(rows[0].ratio_to_limit, 2);
  const std::string header = collective_header(true);
  for (const Row& row : rows)
    EXPECT_EQ(collective_line(row).size(), header.size() - header.find("# Size")) << collective_line(row);
}

}  // namespace
}  // namespace parley::bench
