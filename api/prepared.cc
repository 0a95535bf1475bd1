#include "api/prepared.h"

#include "api/posting.h"

namespace parley::detail {

Prepared Prepared::send(std::shared_ptr<GroupState> group, const Tensor& tensor, int destination,
                        const SendOptions& options) {
  const transport::SendSpec spec = send_spec(*group, tensor, destination, options);
  const FailedOperation description = describe_send(*group, tensor, destination, options.tag);
  Prepared prepared(std::move(group), tensor, description);
  prepared.is_send_ = true;
  prepared.peer_ = destination;
  prepared.send_ = spec;
  prepared.send_.urgency = transport::Endpoint::Urgency::batch;
  return prepared;
}

Prepared Prepared::receive(std::shared_ptr<GroupState> group, const Tensor& tensor, int source,
                           const RecvOptions& options) {
  const transport::ReceiveSpec spec = receive_spec(*group, tensor, source, options);
  const FailedOperation description = describe_receive(*group, tensor, source, options.tag);
  Prepared prepared(std::move(group), tensor, description);
  prepared.peer_ = source;
  prepared.receive_ = spec;
  return prepared;
}

base::Status Prepared::post(Work& work, transport::Engine::Visit& visit) const {
  const transport::Posted posted = is_send_ ? visit.send(send_, true) : visit.receive(receive_, true);
  if (posted.request != nullptr)
    begin_work(work, group_, tensor_, *posted.request, description_, visit);
  else if (posted.status.ok())
    WorkAccess::set_status(work, {peer_, send_.tag, send_.bytes});
  else
    return posted.status;
  return {};
}

std::exception_ptr Prepared::failure(base::Status status) const {
  return failure_of(*group_, description_, status);
}

}  // namespace parley::detail
