#include "tests/multiprocess/nccl/nccl_rank.h"

#include <parley/init.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>

#include "api/nccl/card.h"
#include "api/nccl/runtime.h"
#include "tests/multiprocess/support/ranks.h"
#include "tests/multiprocess/support/shared_page.h"

namespace parley::testing {

std::string reason_against_sharing() {
  if (!DeviceRank::is_real()) return {};
  const SharedPage<std::array<char, 256>> reason;
  const int code = run_ranks(1, [&](int, int) {
    std::string words;
    const nccl::Library* const library = nccl::runtime();
    if (library == nullptr) {
      words = nccl::reason_against();
    } else if (library->version() < nccl::first_version_for_sharing) {
      words = "NCCL " + nccl::version_text(library->version()) + " has one rank on a device";
    }
    words.resize(std::min(words.size(), reason->size() - 1));
    std::copy(words.begin(), words.end(), reason->begin());
  });
  return code == 0 ? reason->data() : "opening NCCL ended with exit code " + std::to_string(code);
}

RanksOptions ranks_with_nccl() {
  RanksOptions options;
  if (DeviceRank::is_real()) options.environment = {{"NCCL_MULTI_RANK_GPU_ENABLE", "1"}};
  return options;
}

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

int run_alone_with_nccl(const std::function<void(NcclRank&, ProcessGroup&)>& body) {
  const SharedPage<nccl::testing::Fabric> fabric;
  return run_ranks(1,
                   [&](int, int) {
                     NcclRank own(0, *fabric);
                     if (nccl::runtime() == nullptr) {
                       std::printf("not tried: %s\n", nccl::reason_against().c_str());
                       return;
                     }
                     {
                       ProcessGroup world = init();
                       body(own, world);
                       destroy();
                     }
                     own.expect_nothing_left();
                   },
                   {.environment = {{"PARLEY_DEVICE_PATH", "nccl"}}});
}

}  // namespace parley::testing
