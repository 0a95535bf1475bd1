#include <parley/process_group.h>

#include <utility>

#include "api/checks.h"
#include "api/collectives/arguments.h"

namespace parley {

[[gnu::hot]] Work ProcessGroup::broadcast(const Tensor& tensor, int root, const CollectiveOptions& options) {
  detail::GroupState& group = detail::require_member(state_, "broadcast");
  auto call = detail::begin_call(group, "broadcast", schedule::Operation::broadcast, options);
  detail::set_root(call, group, root);
  detail::set_elements(call, tensor);
  if (group.rank == root) {
    detail::set_input(call, tensor);
    call.call.output = const_cast<std::byte*>(tensor.data());  // in place: never written
  } else {
    detail::set_output(call, tensor);
    call.call.input = tensor.data();
  }
  detail::set_count(call, tensor.numel());
  call.call.question.in_place = true;
  return detail::launch(state_, std::move(call));
}

}  // namespace parley
