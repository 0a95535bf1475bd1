#include "api/prepared.h"

#include "api/posting.h"

namespace parley::detail {

Prepared Prepared::send(std::shared_ptr<GroupState> group, const Tensor& tensor, int destination,
                        const SendOptions& options) {
  const transport::SendSpec spec = send_spec(*group, tensor, destination, options);
  Prepared prepared(std::move(group), tensor, destination);
  prepared.is_send_ = true;
  prepared.send_ = spec;
  prepared.send_.urgency = transport::Endpoint::Urgency::batch;
  return prepared;
}

Prepared Prepared::receive(std::shared_ptr<GroupState> group, const Tensor& tensor, int source,
                           const RecvOptions& options) {
  const transport::ReceiveSpec spec = receive_spec(*group, tensor, source, options);
  Prepared prepared(std::move(group), tensor, source);
  prepared.receive_ = spec;
  return prepared;
}

base::Status Prepared::post(Work& work, transport::Engine::Visit& visit) const {
  return is_send_ ? post_send(work, group_, tensor_, peer_, send_, visit)
                  : post_receive(work, group_, tensor_, receive_, visit);
}

std::exception_ptr Prepared::failure(base::Status status) const {
  return failure_of(*group_, is_send_ ? describe(send_) : describe(receive_), status);
}

}  // namespace parley::detail
