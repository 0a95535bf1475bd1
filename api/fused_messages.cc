#include "api/fused_messages.h"

#include <algorithm>

#include "api/post_together.h"
#include "api/posting.h"
#include "transport/base/log.h"

namespace parley::detail {

using base::Code;
using transport::Request;
using transport::RequestState;

// One operation's message.
class FusedMessages::Item {
 public:
  Item(const P2POp& op, const std::shared_ptr<GroupState>& group, std::int64_t tag, Work& work)
      : op_(op), group_(group), tag_(tag), work_(work) {}

  [[nodiscard]] bool is_send() const noexcept { return op_.op == P2POp::isend; }
  base::Status post(transport::Engine::Visit& visit) const {
    // Of the tensor's memory, so that the operation keeps that.
    const std::shared_ptr<const void> owner = op_.tensor.owner();
    const std::shared_ptr<const void> memory(owner, op_.tensor.data());
    const Tensor nothing = Tensor::adopt_read_only(memory, {0}, op_.tensor.dtype(), {}, op_.tensor.device());
    return is_send() ? post_send(work_, group_, nothing, op_.peer, send_spec(), visit)
                     : post_receive(work_, group_, nothing, receive_spec(), visit);
  }
  void leave(base::Status status) const {
    WorkAccess::set_error(work_, failure_of(*group_, description(), status));
  }
  [[nodiscard]] FailedOperation description() const {
    return is_send() ? detail::describe(send_spec()) : detail::describe(receive_spec());
  }
  // Null: it failed at once.
  [[nodiscard]] Request* request() const noexcept {
    const Operation* const operation = WorkAccess::operation(work_);
    return operation != nullptr ? operation->request : nullptr;
  }
  // What has met but is of another type has met all the same.
  [[nodiscard]] bool has_met() const noexcept {
    const Request* const own = request();
    if (own == nullptr || own->state != RequestState::done) return false;
    return own->status.ok() || own->status.code() == Code::mismatched;
  }

 private:
  [[nodiscard]] transport::SendSpec send_spec() const {
    transport::SendSpec spec = checked_send_spec(*group_, op_.tensor, op_.peer, tag_, op_.timeout);
    spec.context = group_->all_contexts.fused_batches;
    spec.bytes = 0;
    spec.urgency = transport::Endpoint::Urgency::batch;
    return spec;
  }
  [[nodiscard]] transport::ReceiveSpec receive_spec() const {
    transport::ReceiveSpec spec = checked_receive_spec(*group_, op_.tensor, op_.peer, tag_, op_.timeout);
    spec.pattern.context = group_->all_contexts.fused_batches;
    spec.capacity_bytes = 0;
    return spec;
  }

  const P2POp& op_;
  const std::shared_ptr<GroupState>& group_;
  const std::int64_t tag_;
  Work& work_;
};

FusedMessages::Item FusedMessages::at(std::size_t place) const {
  return {ops_[place], group_, tags_[place], works_[place]};
}

void FusedMessages::post() {
  const auto sends = static_cast<std::size_t>(
      std::count_if(ops_.begin(), ops_.end(), [](const P2POp& op) { return op.op == P2POp::isend; }));
  post_together(*group_->world->engine, ops_.size() - sends, sends,
                [this](std::size_t place) { return at(place); });
}

void FusedMessages::bind() const noexcept {
  for (std::size_t place = 0; place < ops_.size(); ++place)
    if (Request* const request = at(place).request(); request != nullptr) request->is_bound = true;
}

bool FusedMessages::has_timed_out() const noexcept {
  for (std::size_t place = 0; place < ops_.size(); ++place) {
    const Request* const request = at(place).request();
    if (request != nullptr && request->status.code() == Code::timed_out) return true;
  }
  return false;
}

std::vector<std::size_t> FusedMessages::unmatched() const {
  std::vector<std::size_t> places;
  for (std::size_t place = 0; place < ops_.size(); ++place)
    if (!at(place).has_met()) places.push_back(place);
  return places;
}

std::string FusedMessages::peers_of(const std::vector<std::size_t>& places) const {
  std::vector<int> processes;
  std::string text;
  for (const std::size_t place : places) {
    const int process = group_->process_of(ops_[place].peer);
    if (std::find(processes.begin(), processes.end(), process) != processes.end()) continue;
    text += base::concat(processes.empty() ? "" : ", ", process);
    processes.push_back(process);
  }
  return processes.empty() ? text : (processes.size() == 1 ? "rank " : "ranks ") + text;
}

FailedOperation FusedMessages::describe(std::size_t place) const {
  return at(place).description();
}

}  // namespace parley::detail
