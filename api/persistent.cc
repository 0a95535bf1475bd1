#include <parley/error.h>
#include <parley/persistent.h>

#include <cstddef>
#include <exception>
#include <utility>

#include "api/checks.h"
#include "api/post_together.h"
#include "api/prepared.h"
#include "api/work_access.h"

namespace parley {

using detail::Prepared;
using detail::WorkAccess;

struct detail::PersistentAccess {
  static PersistentRequest make(Prepared prepared) {
    PersistentRequest request;
    request.prepared_ = std::make_unique<const Prepared>(std::move(prepared));
    return request;
  }
  // What it posts; checks that it can be started.
  static const Prepared& ready(PersistentRequest& request, const char* operation) {
    if (request.prepared_ == nullptr)
      throw UsageError(std::string(operation) +
                       ": this request is of nothing; send_init() and recv_init() make them");
    detail::require_member(request.prepared_->group(), operation);
    if (request.is_active())
      throw UsageError(std::string(operation) +
                       ": this request is active; wait for it before it is started again");
    // The stream is that of the start.
    const Tensor& tensor = request.prepared_->tensor();
    if (!tensor.device().is_cpu()) [[unlikely]]
      detail::check_stream(tensor, operation);
    return *request.prepared_;
  }

  struct Start {
    const Prepared& prepared;
    Work& work;
    [[nodiscard]] bool is_send() const noexcept { return prepared.is_send(); }
    base::Status post(transport::Engine::Visit& visit) const { return prepared.post(work, visit); }
    void leave(base::Status status) const { WorkAccess::set_error(work, prepared.failure(status)); }
  };
  static Start start_of(PersistentRequest& request) { return {*request.prepared_, request.work_}; }
};

using detail::PersistentAccess;

PersistentRequest::PersistentRequest() noexcept = default;
PersistentRequest::PersistentRequest(PersistentRequest&&) noexcept = default;
PersistentRequest& PersistentRequest::operator=(PersistentRequest&&) noexcept = default;
PersistentRequest::~PersistentRequest() = default;

PersistentRequest ProcessGroup::send_init(const Tensor& tensor, int destination, const SendOptions& options) {
  detail::require_member(state_, "send_init");
  return PersistentAccess::make(Prepared::send(state_, tensor, destination, options));
}

PersistentRequest ProcessGroup::recv_init(const Tensor& tensor, int source, const RecvOptions& options) {
  detail::require_member(state_, "recv_init");
  return PersistentAccess::make(Prepared::receive(state_, tensor, source, options));
}

bool PersistentRequest::is_active() const noexcept {
  return WorkAccess::is_pending(work_);
}

void PersistentRequest::start() {
  const Prepared& prepared = PersistentAccess::ready(*this, "start");
  work_ = Work();
  const base::Status status = [&] {
    transport::Engine::Visit visit(*prepared.group()->world->engine);
    return prepared.post(work_, visit);
  }();
  if (status.failed()) std::rethrow_exception(prepared.failure(status));
}

void start_all(std::span<PersistentRequest> requests) {
  if (requests.empty()) return;
  const auto& world = PersistentAccess::ready(requests.front(), "start_all").group()->world;
  for (PersistentRequest& request : requests)
    if (PersistentAccess::ready(request, "start_all").group()->world != world)
      throw UsageError("start_all: the requests are of different worlds");
  std::size_t sends = 0;
  for (PersistentRequest& request : requests) {
    request.work() = Work();
    sends += PersistentAccess::start_of(request).is_send() ? 1 : 0;
  }
  detail::post_together(*world->engine, requests.size() - sends, sends,
                        [&](std::size_t i) { return PersistentAccess::start_of(requests[i]); });
}

void wait_all(std::span<PersistentRequest> requests) {
  std::exception_ptr first;
  for (PersistentRequest& request : requests) try {
      request.wait();
    } catch (...) {
      if (!first) first = std::current_exception();
    }
  if (first) std::rethrow_exception(first);
}

}  // namespace parley
