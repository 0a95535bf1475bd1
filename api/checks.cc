#include "api/checks.h"

#include <parley/error.h>

#include "api/operation.h"
#include "transport/base/log.h"

namespace parley::detail {

using base::concat;

GroupState& require_group(const std::shared_ptr<GroupState>& state) {
  if (state == nullptr) throw UsageError("this ProcessGroup is empty: get one from parley::init()");
  require_own_process(*state->world);
  // relaxed: destroy() and other calls are ordered by the caller.
  if (state->destroyed.load(std::memory_order_relaxed))
    throw UsageError("this group was destroyed: call parley::init() again");
  return *state;
}

void check_tensor(const Tensor& tensor, const char* operation, bool writable) {
  if (tensor.device().type != Device::cpu)
    throw UsageError(concat(operation, ": the tensor is not on the CPU"));
  if (!tensor.is_contiguous())
    throw UsageError(concat(operation, ": the tensor is not contiguous; send tensor.clone() instead"));
  if (writable && tensor.is_read_only())
    throw UsageError(concat(operation, ": the tensor is a view of const memory"));
}

namespace {

[[noreturn]] void refuse_rank(const GroupState& group, int rank, const char* what) {
  throw UsageError(
      concat(what, " rank ", rank, " is out of range: valid ranks are 0 to ", group.world->size - 1));
}

}  // namespace

void check_destination(const GroupState& group, int destination, std::int64_t tag) {
  if (destination < 0 || destination >= group.world->size)
    refuse_rank(group, destination, "send: destination");
  if (tag < 0) throw UsageError(concat("send: tag must be 0 or more, not ", tag));
}

void check_source(const GroupState& group, int source, std::int64_t tag, const char* operation) {
  if (source != any_source && (source < 0 || source >= group.world->size))
    refuse_rank(group, source, concat(operation, ": source").c_str());
  if (tag < 0 && tag != any_tag)
    throw UsageError(concat(operation, ": tag must be 0 or more, or any_tag, not ", tag));
}

}  // namespace parley::detail
