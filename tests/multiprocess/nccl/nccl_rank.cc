#include "tests/multiprocess/nccl/nccl_rank.h"

#include <cstring>
#include <string>

#include "api/nccl/runtime.h"
#include "tests/multiprocess/support/ranks.h"

namespace parley::testing {

NcclRank::NcclRank(int physical, nccl::testing::Fabric& fabric) : device_(physical) {
  if (DeviceRank::is_real()) return;
  nccl_ = std::make_unique<nccl::testing::SimulatedNccl>(device_.simulated(), fabric);
  nccl::replace_runtime(nccl_.get(), "");
}

NcclRank::~NcclRank() {
  if (nccl_ != nullptr) nccl::replace_runtime(nullptr, "the test's NCCL has gone");
}

void NcclRank::expect_nothing_left() const {
  if (nccl_ == nullptr) return;
  expect_equal(nccl_->live_communicators(), 0U, "communicators");
  expect_equal(nccl_->live_scaled_sums(), 0U, "scaled sums");
  for (const std::string& violation : nccl_->violations()) throw Unexpected(violation);
}

Tensor DeviceNumbers::tensor() const {
  const Tensor bytes = buffer_.tensor();
  const auto count = static_cast<std::int64_t>(bytes.bytes() / sizeof(std::int64_t));
  return Tensor::from_blob(buffer_.data(), {count}, DType::i64, {}, bytes.device());
}

void DeviceNumbers::put(const std::vector<std::int64_t>& values) const {
  std::vector<std::byte> bytes(values.size() * sizeof(std::int64_t));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  buffer_.upload(bytes);
}

std::vector<std::int64_t> DeviceNumbers::get() const {
  const auto bytes = buffer_.download(buffer_.tensor().bytes());
  std::vector<std::int64_t> values(bytes.size() / sizeof(std::int64_t));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

}  // namespace parley::testing
