#pragma once

#include <parley/process_group.h>
#include <parley/tensor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/multiprocess/device/device_rank.h"
#include "tests/multiprocess/support/ranks.h"
#include "tests/simulated_nccl/simulated_nccl.h"

namespace parley::testing {

// Why several ranks cannot have NCCL on the machine's one device; "" where they can, or it is simulated. A
// child looks, since who has opened NCCL must not fork.
[[nodiscard]] std::string reason_against_sharing();

// For ranks that all have NCCL: on a real device they share it, which NCCL must be told.
[[nodiscard]] RanksOptions ranks_with_nccl();

// One rank with a device and NCCL. Made in the rank's process before its world. On a simulated device NCCL is
// simulated, too: in the end nothing may be left of it, and it not have been called against its rules.
class NcclRank {
 public:
  // `physical`: which GPU of the host is its device, where it is simulated. `fabric` was made before the
  // ranks were forked.
  NcclRank(int physical, nccl::testing::Fabric& fabric);
  ~NcclRank();
  NcclRank(const NcclRank&) = delete;
  NcclRank& operator=(const NcclRank&) = delete;

  [[nodiscard]] DeviceRank& device() noexcept { return device_; }
  // REQUIRES: it is simulated.
  [[nodiscard]] nccl::testing::SimulatedNccl& nccl() noexcept { return *nccl_; }

  // After the world has gone. Throws Unexpected.
  void expect_nothing_left() const;

 private:
  DeviceRank device_;
  std::unique_ptr<nccl::testing::SimulatedNccl> nccl_;
};

// Numbers on device 0.
class DeviceNumbers {
 public:
  DeviceNumbers(NcclRank& rank, std::size_t count) : buffer_(rank.device(), count * sizeof(std::int64_t)) {}
  [[nodiscard]] Tensor tensor() const;
  void put(const std::vector<std::int64_t>& values) const;
  [[nodiscard]] std::vector<std::int64_t> get() const;

 private:
  DeviceBuffer buffer_;
};

}  // namespace parley::testing
