#include <parley/error.h>
#include <parley/work.h>

#include <array>
#include <utility>
#include <vector>

#include "api/completion_hook.h"
#include "api/operation.h"
#include "api/work_access.h"
#include "transport/base/deadline.h"
#include "transport/base/log.h"

namespace parley {

using detail::Operation;
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

Work::~Work() = default;

Work& Work::operator=(Work&& other) noexcept {
  operation_ = std::move(other.operation_);
  status_ = other.status_;
  error_ = std::move(other.error_);
  return *this;
}

RecvStatus Work::wait() {
  return wait(no_timeout);
}

RecvStatus Work::wait(std::chrono::nanoseconds timeout) {
  if (operation_ != nullptr) {
    detail::require_own_process(*operation_->world);
    if (!operation_->world->engine->wait(*operation_->request, timeout))
      std::rethrow_exception(detail::wait_timed_out(*operation_, timeout));
    detail::WorkAccess::collect(*this);
  }
  if (error_) std::rethrow_exception(error_);
  return status_;
}

bool Work::test() {
  if (operation_ == nullptr) return true;
  detail::require_own_process(*operation_->world);
  if (!has_ended(*operation_)) {
    operation_->world->engine->poll();
    if (!has_ended(*operation_)) return false;
  }
  detail::WorkAccess::collect(*this);
  return true;
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

Work detail::WorkAccess::make(std::unique_ptr<Operation, OperationRelease> operation) {
  Work work;
  work.operation_ = std::move(operation);
  return work;
}

Work detail::WorkAccess::make_done(const RecvStatus& status) {
  Work work;
  work.status_ = status;
  return work;
}

Operation* detail::WorkAccess::operation(Work& work) {
  return work.operation_.get();
}

void detail::WorkAccess::collect(Work& work) {
  try {
    work.status_ = finish(*work.operation_);
  } catch (...) {
    work.error_ = std::current_exception();
  }
  work.operation_.reset();
}

void wait_all(std::span<Work> works) {
  wait_all(works, no_timeout);
}

void wait_all(std::span<Work> works, std::chrono::nanoseconds timeout) {
  const auto deadline = base::Deadline::after(timeout);
  std::exception_ptr first;
  for (Work& work : works) {
    try {
      work.wait(deadline.remaining());
    } catch (...) {
      if (!first) first = std::current_exception();
    }
  }
  if (first) std::rethrow_exception(first);
}

namespace {

constexpr std::size_t requests_on_stack = 64;

// The index of a Work that has ended already, if any; else their requests in `requests`.
std::optional<std::size_t> gather(std::span<Work> works, std::span<Request*> requests) {
  if (works.empty()) throw UsageError("wait_any() and test_any() need at least one Work");
  for (std::size_t i = 0; i < works.size(); ++i) {
    Operation* operation = detail::WorkAccess::operation(works[i]);
    if (operation == nullptr) return i;
    requests[i] = operation->request;
  }
  return std::nullopt;
}

std::optional<std::size_t> ended_among(std::span<Work> works) {
  for (std::size_t i = 0; i < works.size(); ++i) {
    Operation* operation = detail::WorkAccess::operation(works[i]);
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
  Operation& first = *detail::WorkAccess::operation(works.front());
  detail::require_own_process(*first.world);
  if (!first.world->engine->wait_any(requests, timeout))
    std::rethrow_exception(detail::wait_timed_out(first, timeout));
  return *ended_among(works);
}

std::optional<std::size_t> test_any(std::span<Work> works) {
  if (works.empty()) return std::nullopt;
  if (const auto ended = ended_among(works)) return ended;
  detail::WorkAccess::operation(works.front())->world->engine->poll();
  return ended_among(works);
}

}  // namespace parley
