#include "transport/cuda/runtime.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "transport/base/env.h"
#include "transport/base/fork_guard.h"
#include "transport/base/log.h"
#if PARLEY_HAS_CUDA
#include "transport/cuda/driver.h"
#endif

namespace parley::cuda {
namespace {

// What opening came to. Never changed once published, and never freed: threads may be in it until the process
// ends.
struct Outcome {
  Api* api = nullptr;
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

constexpr const char* forked_reason =
    "this process was forked after CUDA was initialised, and CUDA cannot be used in the child: start it by "
    "exec";

std::string refused_by_environment() {
  const std::optional<std::string> wish = base::env_string("PARLEY_CUDA");
  if (!wish || *wish == "on") return {};
  if (*wish == "off") return "PARLEY_CUDA=off is set";
  return base::concat("PARLEY_CUDA=", *wish, " is neither on nor off");
}

Outcome open() {
  if (std::string reason = refused_by_environment(); !reason.empty()) return {nullptr, std::move(reason)};
#if PARLEY_HAS_CUDA
  OpenedDriver opened = open_driver();
  return {opened.api.release(), std::move(opened.reason)};
#else
  return {nullptr,
          "this build of Parley has no CUDA: it was made with PARLEY_CUDA=OFF or without CUDA's toolkit"};
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

// A process that was forked after an api was opened has its memory, and not its CUDA.
bool is_usable(const Outcome& outcome) noexcept {
  return outcome.api != nullptr && !outcome.opened_in.in_child();
}

}  // namespace

Api* runtime() noexcept {
  const Outcome& opened = outcome();
  return is_usable(opened) ? opened.api : nullptr;
}

std::string reason_against() {
  const Outcome& opened = outcome();
  if (is_usable(opened)) return {};
  return opened.api != nullptr ? forked_reason : opened.reason;
}

bool is_in_use() noexcept {
  const Outcome* known = latest.load(std::memory_order_acquire);  // invariant 2
  return known != nullptr && is_usable(*known);
}

bool is_replaced() noexcept {
  const Outcome* known = latest.load(std::memory_order_acquire);  // invariant 2
  return known != nullptr && known->is_of_test;
}

void replace_runtime(Api* api, std::string reason) {
  const std::lock_guard lock(mutex);
  publish({.api = api, .reason = std::move(reason), .is_of_test = true});
}

}  // namespace parley::cuda
