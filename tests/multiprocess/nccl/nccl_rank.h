#pragma once

#include <parley/process_group.h>
#include <parley/tensor.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
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

// By NCCL on one device: a rank alone, in a process of its own, asks for it and calls `body(rank, world)`; it
// says so where there is none. Returns the exit code.
int run_alone_with_nccl(const std::function<void(NcclRank&, ProcessGroup&)>& body);

// Elements on device 0.
template <typename Element>
class DeviceElements {
 public:
  DeviceElements(NcclRank& rank, std::size_t count)
      : count_(count), buffer_(rank.device(), count * sizeof(Element)) {}
  [[nodiscard]] Tensor tensor() const {
    return Tensor::from_blob(buffer_.data(), {static_cast<std::int64_t>(count_)}, dtype_of<Element>, {},
                             Device{Device::cuda, 0});
  }
  void put(const std::vector<Element>& values) const {
    const auto bytes = std::as_bytes(std::span(values));
    buffer_.upload({bytes.begin(), bytes.end()});
  }
  [[nodiscard]] std::vector<Element> get() const {
    const auto bytes = buffer_.download(count_ * sizeof(Element));
    std::vector<Element> values(count_);
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }

 private:
  std::size_t count_;
  DeviceBuffer buffer_;
};
using DeviceNumbers = DeviceElements<std::int64_t>;

}  // namespace parley::testing
