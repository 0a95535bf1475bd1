// Sends and receives of device memory between processes, with every byte checked; over every link.

#include <gtest/gtest.h>
#include <parley/parley.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "tests/multiprocess/device/device_rank.h"
#include "tests/multiprocess/support/ranks.h"

namespace parley::testing {
namespace {

using Bytes = std::vector<std::byte>;

constexpr std::array<std::size_t, 12> sizes{
    0, 1, 8, 100, 4096, 65'536, 65'537, 1 << 18, (1 << 20) - 1, 1 << 20, (1 << 20) + 3, (5 << 20) + 17};

// One end of a message: on the device or not.
class Side {
 public:
  Side(DeviceRank& device, bool is_on_device, std::size_t bytes) : host_(bytes) {
    if (is_on_device) on_device_ = std::make_unique<DeviceBuffer>(device, bytes);
  }
  Side(DeviceRank& device, bool is_on_device, const Bytes& content)
      : Side(device, is_on_device, content.size()) {
    host_ = content;
    if (on_device_ != nullptr) on_device_->upload(content);
  }
  [[nodiscard]] Tensor tensor() {
    return on_device_ != nullptr ? on_device_->tensor() : Tensor::bytes(host_.data(), host_.size());
  }
  [[nodiscard]] Bytes content() const {
    return on_device_ != nullptr ? on_device_->download(host_.size()) : host_;
  }

 private:
  Bytes host_;
  std::unique_ptr<DeviceBuffer> on_device_;
};

// Each size once as a blocking pair, then all at once; `receiver_first`: they are posted before they come.
void exchange_all(bool from_device, bool to_device) {
  DeviceRank device;
  ProcessGroup world = init();
  for (const std::size_t bytes : sizes) {
    if (world.rank() == 0) {
      Side side(device, from_device, pattern(bytes, bytes));
      world.send(side.tensor(), 1);
    } else {
      Side side(device, to_device, bytes);
      expect_equal(world.recv(side.tensor(), 0).bytes, bytes, "bytes");
      expect_pattern(side.content(), bytes);
    }
  }
  for (const bool receiver_first : {true, false}) {
    std::vector<Side> sides;
    std::vector<Work> works;
    for (std::size_t i = 0; i < sizes.size(); ++i)
      sides.push_back(world.rank() == 0 ? Side(device, from_device, pattern(sizes[i], i))
                                        : Side(device, to_device, sizes[i]));
    const auto post = [&] {
      for (std::size_t i = 0; i < sizes.size(); ++i)
        works.push_back(world.rank() == 0 ? world.isend(sides[i].tensor(), 1, {.tag = std::int64_t(i)})
                                          : world.irecv(sides[i].tensor(), 0, {.tag = std::int64_t(i)}));
    };
    const bool is_first = receiver_first == (world.rank() == 1);
    if (is_first) post();
    world.barrier();
    if (!is_first) post();
    wait_all(works);
    for (std::size_t i = 0; world.rank() == 1 && i < sizes.size(); ++i) expect_pattern(sides[i].content(), i);
  }
  world.barrier();
  destroy();
}

TEST(DevicePointToPoint, BetweenDevices) {
  EXPECT_EQ(run_ranks(2, [](int, int) { exchange_all(true, true); }), 0);
}

TEST(DevicePointToPoint, FromADeviceToAHost) {
  EXPECT_EQ(run_ranks(2, [](int, int) { exchange_all(true, false); }), 0);
}

TEST(DevicePointToPoint, FromAHostToADevice) {
  EXPECT_EQ(run_ranks(2, [](int, int) { exchange_all(false, true); }), 0);
}

TEST(DevicePointToPoint, ToOneself) {
  const int code = run_ranks(1, [](int, int) {
    DeviceRank device;
    ProcessGroup world = init();
    for (const auto& [from_device, to_device] :
         {std::pair{true, true}, std::pair{true, false}, std::pair{false, true}}) {
      for (const std::size_t bytes : sizes) {
        Side out(device, from_device, pattern(bytes, bytes));
        Side in(device, to_device, bytes);
        Work sent = world.isend(out.tensor(), 0);
        world.recv(in.tensor(), 0);
        sent.wait();
        expect_pattern(in.content(), bytes);
      }
    }
    destroy();
  });
  EXPECT_EQ(code, 0);
}

TEST(DevicePointToPoint, OffersGoBothWaysAtOnce) {
  const int code = run_ranks(4, [](int rank, int count) {
    DeviceRank device;
    ProcessGroup world = init();
    constexpr std::size_t bytes = (3 << 20) + 5;
    const int above = (rank + 1) % count;
    const int below = (rank + count - 1) % count;
    const DeviceBuffer out(device, bytes), in(device, bytes);
    for (int round = 0; round < 4; ++round) {
      out.upload(pattern(bytes, static_cast<std::uint64_t>(10 * round + rank)));
      world.sendrecv(out.tensor(), above, in.tensor(), below);
      expect_pattern(in.download(bytes), static_cast<std::uint64_t>(10 * round + below));
    }
    world.barrier();
    destroy();
  });
  EXPECT_EQ(code, 0);
}

TEST(DevicePointToPoint, EveryWayToPostAMessageTakesDeviceMemory) {
  const int code = run_ranks(2, [](int rank, int) {
    constexpr std::size_t bytes = 3000;
    DeviceRank device;
    ProcessGroup world = init();
    const DeviceBuffer buffer(device, bytes);
    const int other = 1 - rank;
    if (rank == 0) {
      buffer.upload(pattern(bytes, 1));
      world.send(buffer.tensor(), other, {.tag = 1});
      world.send(buffer.tensor(), other, {.tag = 2});
      auto works = world.batch_isend_irecv({P2POp{P2POp::isend, buffer.tensor(), other}});
      wait_all(works);
      PersistentRequest request = world.send_init(buffer.tensor(), other, {.tag = 4});
      for (int i = 0; i < 3; ++i) {
        request.start();
        request.wait();
      }
    } else {
      const auto expect_message = [&] {
        expect_pattern(buffer.download(bytes), 1);
        buffer.upload(Bytes(bytes));
      };
      const RecvStatus status = world.recv(buffer.tensor(), any_source, {.tag = any_tag});
      expect_equal(status.tag, 1, "tag");
      expect_message();
      Message message = world.probe(0, {.tag = 2});
      expect_equal(message.bytes(), bytes, "bytes of a probed message");
      message.recv(buffer.tensor());
      expect_message();
      auto works = world.batch_isend_irecv({P2POp{P2POp::irecv, buffer.tensor(), other}});
      wait_all(works);
      expect_message();
      PersistentRequest request = world.recv_init(buffer.tensor(), other, {.tag = 4});
      for (int i = 0; i < 3; ++i) {
        request.start();
        while (!request.work().test()) {
        }
        request.wait();
        expect_message();
      }
    }
    world.barrier();
    destroy();
  });
  EXPECT_EQ(code, 0);
}

TEST(DevicePointToPoint, AMessageThatDoesNotFitIsAnErrorOfBothMemories) {
  const int code = run_ranks(2, [](int rank, int) {
    DeviceRank device;
    ProcessGroup world = init();
    const DeviceBuffer buffer(device, 100);
    if (rank == 0) {
      world.send(buffer.tensor(), 1);
      world.send(Tensor::bytes(Bytes(100).data(), 100), 1);
      world.send(buffer.tensor(), 1);
    } else {
      expect_throws<TruncationError>([&] { world.recv(buffer.tensor(50), 0); });
      expect_throws<TruncationError>([&] { world.recv(buffer.tensor(50), 0); });
      world.recv(buffer.tensor(), 0);
    }
    world.barrier();
    destroy();
  });
  EXPECT_EQ(code, 0);
}

TEST(DevicePointToPoint, WhatNobodyReceivesIsTakenBack) {
  const int code = run_ranks(2, [](int rank, int) {
    constexpr std::size_t bytes = 70'000;
    DeviceRank device;
    ProcessGroup world = init();
    const DeviceBuffer buffer(device, bytes);
    if (rank == 0) {
      buffer.upload(pattern(bytes, 3));
      expect_throws<TimeoutError>(
          [&] { world.send(buffer.tensor(), 1, {.tag = 1, .timeout = std::chrono::milliseconds(50)}); });
      Work work = world.isend(buffer.tensor(), 1, {.tag = 1});
      expect(work.cancel(), "it can be cancelled");
      expect_throws<CancelledError>([&] { work.wait(); });
      world.barrier();
      world.send(buffer.tensor(), 1, {.tag = 1});
    } else {
      expect_throws<TimeoutError>(
          [&] { world.recv(buffer.tensor(), 0, {.tag = 2, .timeout = std::chrono::milliseconds(50)}); });
      world.barrier();
      world.recv(buffer.tensor(), 0, {.tag = 1});
      expect_pattern(buffer.download(bytes), 3);
      expect(!world.iprobe(0, {.tag = any_tag}), "nothing else has come");
    }
    world.barrier();
    destroy();
  });
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace parley::testing
