#include "api/nccl/runtime.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "transport/base/fork_guard.h"
#include "transport/base/log.h"
#include "transport/cuda/runtime.h"
#if PARLEY_HAS_NCCL
#include "api/nccl/shared_library.h"
#endif

namespace parley::nccl {
namespace {

// What opening came to. Never changed once published, and never freed: threads may be in it until the process
// ends.
struct Outcome {
  Library* library = nullptr;
  std::string reason = {};
  base::ForkGuard opened_in = {};
  bool is_of_test = false;
};

// Invariants:
// 1. `latest` changes under `mutex` only, from null to the first outcome, later in tests.
// 2. An outcome is complete before it is published.
std::mutex mutex;
std::atomic<const Outcome*> latest{nullptr};
// Of outcomes that were replaced, so that leak checks find an owner.
std::vector<std::unique_ptr<const Outcome>>& all_outcomes() {
  static auto* const all = new std::vector<std::unique_ptr<const Outcome>>;
  return *all;
}

Outcome open() {
  if (cuda::runtime() == nullptr) return {nullptr, "NCCL needs CUDA: " + cuda::reason_against()};
#if PARLEY_HAS_NCCL
  OpenedLibrary opened = open_library();
  return {opened.library.release(), std::move(opened.reason)};
#else
  return {nullptr, "this build of Parley has no NCCL: it was made without CUDA's toolkit or NCCL's nccl.h"};
#endif
}

// REQUIRES: `mutex` is held.
const Outcome* publish(Outcome outcome) {
  all_outcomes().push_back(std::make_unique<const Outcome>(std::move(outcome)));
  const Outcome* made = all_outcomes().back().get();
  latest.store(made, std::memory_order_release);  // pairs with the acquire in outcome(): invariant 2
  return made;
}

const Outcome& outcome() {
  const Outcome* known = latest.load(std::memory_order_acquire);  // invariant 2
  if (known != nullptr) return *known;
  const std::lock_guard lock(mutex);
  known = latest.load(std::memory_order_relaxed);  // relaxed: invariant 1
  return known != nullptr ? *known : *publish(open());
}

// In words. A process that was forked after a library was opened has its memory, and not its threads; and
// NCCL itself knows no other CUDA than the driver's.
std::string_view reason_against(const Outcome& outcome) noexcept {
  if (outcome.library == nullptr) return outcome.reason;
  if (outcome.opened_in.in_child())
    return "this process was forked after NCCL was opened, and NCCL cannot be used in the child: start it by "
           "exec";
  if (!outcome.is_of_test && cuda::is_replaced()) return "CUDA is simulated here";
  return {};
}

}  // namespace

Library* runtime() noexcept {
  const Outcome& opened = outcome();
  return reason_against(opened).empty() ? opened.library : nullptr;
}

std::string reason_against() {
  return std::string(reason_against(outcome()));
}

std::string version_text(int version) {
  // Until 2.8 the number before the last two was one digit shorter: 2804 is 2.8.4.
  const int major_unit = version < 10000 ? 1000 : 10000;
  return base::concat(version / major_unit, ".", version % major_unit / 100, ".", version % 100);
}

void replace_runtime(Library* library, std::string reason) {
  const std::lock_guard lock(mutex);
  publish({.library = library, .reason = std::move(reason), .is_of_test = true});
}

}  // namespace parley::nccl
