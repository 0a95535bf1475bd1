#include <parley/error.h>
#include <parley/work.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "api/completion_hook.h"
#include "api/on_device.h"
#include "api/operation.h"
#include "api/work_access.h"
#include "transport/base/deadline.h"
#include "transport/base/log.h"

namespace parley {

using detail::Operation;
using detail::Outcome;
using detail::WorkAccess;
using transport::Engine;
using transport::Messenger;
using transport::Request;
using transport::RequestState;

namespace {

bool has_ended(const Operation& operation) {
  return operation.world->engine->inspect(
      [&](const Messenger&) { return operation.request->state == RequestState::done; });
}

}  // namespace

void detail::OperationRelease::operator()(Operation* operation) const noexcept {
  const std::unique_ptr<Operation> owned(operation);
  settle(*owned);
}

RecvStatus Work::wait() {
  return wait(no_timeout);
}

RecvStatus Work::wait(std::chrono::nanoseconds timeout) {
  if (operation_ != nullptr) {
    detail::require_own_process(*operation_->world);
    try {
      status_ = detail::finish_within(*operation_, timeout);
    } catch (...) {
      if (operation_->request != nullptr) throw;  // it goes on
      error_ = std::current_exception();
    }
    WorkAccess::note_stream(*this);
    operation_.reset();
  } else if (std::exchange(owes_order_, false)) [[unlikely]] {
    detail::order_after(device_, detail::stream_of_number(stream_));
    WorkAccess::note_stream(*this);
  }
  if (error_) std::rethrow_exception(error_);
  return status_;
}

RecvStatus Work::synchronize() {
  const RecvStatus status = wait();
  if (device_ >= 0) detail::synchronize_device(device_, detail::stream_of_number(stream_));
  return status;
}

bool Work::test() {
  if (operation_ == nullptr) return true;
  detail::require_own_process(*operation_->world);
  const auto outcome = [&]() -> std::optional<Outcome> {
    Engine::Visit visit(*operation_->world->engine);
    const Request& request = *operation_->request;
    if (request.state != RequestState::done) visit.poll();
    if (request.state != RequestState::done) return std::nullopt;
    return detail::take_outcome(*operation_, visit);
  }();
  if (outcome) WorkAccess::settle(*this, *outcome);
  return outcome.has_value();
}

bool Work::cancel() {
  if (operation_ == nullptr) return false;
  detail::require_own_process(*operation_->world);
  return operation_->world->engine->locked(
      [&](Messenger& messenger) { return messenger.cancel(*operation_->request, base::Code::cancelled); });
}

void Work::then(std::function<void(std::exception_ptr)> fn) {
  if (operation_ == nullptr) return fn(error_);
  detail::require_own_process(*operation_->world);
  if (!detail::attach(*operation_, std::move(fn))) throw UsageError("Work::then() was called before");
}

void Work::detach(std::shared_ptr<const void> owner) {
  const auto log_failure = [owner = std::move(owner),
                            tensor = operation_ ? operation_->owner : nullptr](std::exception_ptr error) {
    if (!error) return;
    try {
      std::rethrow_exception(error);
    } catch (const std::exception& failure) {
      PARLEY_LOG(warn, "p2p", "a detached operation failed: ", failure.what());
    }
  };
  if (operation_ == nullptr) return log_failure(error_);
  detail::require_own_process(*operation_->world);
  detail::attach_and_release(*operation_, log_failure);
  operation_.reset();
}

void detail::WorkAccess::settle(Work& work, const Outcome& outcome) {
  try {
    work.status_ = status_or_throw(*work.operation_->world, outcome);
  } catch (...) {
    work.error_ = std::current_exception();
  }
  note_stream(work);
  work.owes_order_ = work.device_ >= 0 && work.error_ == nullptr;
  work.operation_.reset();
}

void wait_all(std::span<Work> works) {
  wait_all(works, no_timeout);
}

namespace {

// How many of the first `works` have ended well, now or before; under one hold of the lock, which is let go
// while it waits. Of their operations is left what owns something. The next one is of another world, has
// failed, has not ended in time, or had ended before and is on a device.
std::size_t take_good_ones(std::span<Work> works, const base::Deadline& deadline) {
  wireup::World* world = nullptr;
  std::optional<Engine::Visit> visit;
  std::size_t taken = 0;
  for (; taken < works.size(); ++taken) {
    Work& work = works[taken];
    Operation* operation = WorkAccess::operation(work);
    if (operation == nullptr) {
      if (WorkAccess::has_more_to_wait_for(work)) break;
      continue;
    }
    if (!visit) {
      world = operation->world;
      detail::require_own_process(*world);
      visit.emplace(*world->engine);
    }
    Request& request = *operation->request;
    const bool has_ended = operation->world == world && (request.state == RequestState::done ||
                                                         visit->wait(request, deadline.remaining()));
    if (!has_ended) break;
    detail::order_stream(request);
    if (!request.status.ok()) break;
    WorkAccess::set_status(work, detail::status_of(request, operation->group));
    WorkAccess::note_stream(work);
    detail::release(*operation, *visit);
    // What an operation owns may end with it, for which the lock must be free.
    const bool owns_nothing =
        operation->owner == nullptr && operation->keeper == nullptr && operation->keeps_group == nullptr;
    if (owns_nothing) WorkAccess::drop_taken(work);
  }
  return taken;
}

}  // namespace

void wait_all(std::span<Work> works, std::chrono::nanoseconds timeout) {
  const auto deadline = timeout == no_timeout ? base::Deadline::never() : base::Deadline::after(timeout);
  std::exception_ptr first;
  while (!works.empty()) {
    const std::size_t taken = take_good_ones(works, deadline);
    for (Work& work : works.first(taken)) WorkAccess::drop_taken(work);
    works = works.subspan(taken);
    if (works.empty()) break;
    try {
      works.front().wait(deadline.remaining());
    } catch (...) {
      if (!first) first = std::current_exception();
    }
    works = works.subspan(1);
  }
  if (first) std::rethrow_exception(first);
}

namespace {

constexpr std::size_t requests_on_stack = 64;

// The index of a Work that has ended already, if any; else their requests in `requests`.
std::optional<std::size_t> gather(std::span<Work> works, std::span<Request*> requests) {
  if (works.empty()) throw UsageError("wait_any() and test_any() need at least one Work");
  for (std::size_t i = 0; i < works.size(); ++i) {
    Operation* operation = WorkAccess::operation(works[i]);
    if (operation == nullptr) return i;
    requests[i] = operation->request;
  }
  return std::nullopt;
}

std::optional<std::size_t> ended_among(std::span<Work> works) {
  for (std::size_t i = 0; i < works.size(); ++i) {
    Operation* operation = WorkAccess::operation(works[i]);
    if (operation == nullptr) return i;
    detail::require_own_process(*operation->world);  // a lock of the parent's may be held for ever
    if (has_ended(*operation)) return i;
  }
  return std::nullopt;
}

}  // namespace

std::size_t wait_any(std::span<Work> works) {
  return wait_any(works, no_timeout);
}

std::size_t wait_any(std::span<Work> works, std::chrono::nanoseconds timeout) {
  std::array<Request*, requests_on_stack> few;
  std::vector<Request*> many(works.size() > few.size() ? works.size() : 0);
  const std::span<Request*> requests = std::span(many.empty() ? few.data() : many.data(), works.size());
  if (const auto ended = gather(works, requests)) return *ended;
  Operation& first = *WorkAccess::operation(works.front());
  detail::require_own_process(*first.world);
  if (!first.world->engine->wait_any(requests, timeout)) {
    const auto facts = first.world->engine->locked(
        [&](Messenger& messenger) { return detail::wait_timeout_facts(first, timeout, messenger); });
    std::rethrow_exception(to_exception(*first.world, facts));
  }
  return *ended_among(works);
}

std::optional<std::size_t> test_any(std::span<Work> works) {
  if (works.empty()) return std::nullopt;
  if (const auto ended = ended_among(works)) return ended;
  WorkAccess::operation(works.front())->world->engine->poll();
  return ended_among(works);
}

}  // namespace parley
