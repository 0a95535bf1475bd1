#include "api/checks.h"

#include <parley/error.h>
#include <parley/stream.h>

#include "api/operation.h"
#include "transport/base/log.h"
#include "transport/cuda/runtime.h"

namespace parley::detail {

using base::concat;

void refuse_group(const std::shared_ptr<GroupState>& state) {
  if (state == nullptr) throw UsageError("this ProcessGroup is empty: get one from parley::init()");
  require_own_process(*state->world);
  throw UsageError("this group was destroyed: call parley::init() again");
}

void refuse_non_member(const GroupState& group, const char* operation) {
  throw UsageError(
      concat(operation, ": rank ", group.world->rank, " of the world is not in ", text_of(group)));
}

std::string text_of(const GroupState& group) {
  constexpr std::size_t most_listed = 16;
  if (group.is_world()) return "the world";
  std::string text = group.name.empty() ? "group {" : concat("group \"", group.name, "\" {");
  for (std::size_t i = 0; i < group.members.size(); ++i) {
    if (i == most_listed) return concat(text, ", ... ", group.size, " ranks}");
    text += concat(i == 0 ? "" : ", ", group.members[i]);
  }
  return text + "}";
}

namespace {
// CU_STREAM_PER_THREAD
void* const per_thread_stream = reinterpret_cast<void*>(std::uintptr_t{2});

bool is_captured(int device) {
  cuda::Api& api = *cuda::runtime();
  const cuda::DeviceScope scope(api, device);
  return api.is_capturing(static_cast<cuda::Stream>(current_stream()));
}
}  // namespace

void check_further(const Tensor& tensor, const char* operation, bool writable) {
  if (!tensor.is_contiguous())
    throw UsageError(concat(operation, ": the tensor is not contiguous; send tensor.clone() instead"));
  if (writable && tensor.is_read_only())
    throw UsageError(concat(operation, ": the tensor is a view of const memory"));
  if (!tensor.device().is_cpu() && cuda::runtime() == nullptr)
    throw UsageError(concat(operation, ": the tensor is on ", to_string(tensor.device()),
                            ", but there is no CUDA here: ", cuda::reason_against()));
  if (!tensor.device().is_cpu()) check_stream(tensor, operation);
}

void check_stream(const Tensor& tensor, const char* operation) {
  if (current_stream() == per_thread_stream)
    throw UsageError(concat(operation,
                            ": the current stream is cudaStreamPerThread, which names another stream on each "
                            "thread, and Parley has several: set one that was created"));
  if (is_captured(tensor.device().index))
    throw UsageError(concat(operation,
                            ": the current stream is captured into a CUDA graph, and a replay would find no "
                            "other rank to match: call it outside of the capture"));
}

void refuse_rank(const GroupState& group, int rank, const char* what) {
  throw UsageError(concat(what, " rank ", rank, " is out of range: valid ranks are 0 to ", group.size - 1));
}

void refuse_destination(const GroupState& group, int destination, std::int64_t tag) {
  if (destination < 0 || destination >= group.size) refuse_rank(group, destination, "send: destination");
  throw UsageError(concat("send: tag must be 0 or more, not ", tag));
}

void refuse_source(const GroupState& group, int source, std::int64_t tag, const char* operation) {
  if (source != any_source && (source < 0 || source >= group.size))
    refuse_rank(group, source, concat(operation, ": source").c_str());
  throw UsageError(concat(operation, ": tag must be 0 or more, or any_tag, not ", tag));
}

}  // namespace parley::detail
