#include "api/on_device.h"

#include <parley/error.h>
#include <parley/stream.h>

#include "transport/cuda/runtime.h"
#include "transport/cuda_ipc/transfer.h"

namespace parley::detail {

using transport::Posted;
using transport::cuda_ipc::Transfer;

namespace {

cuda::Stream stream_of_caller() noexcept {
  return static_cast<cuda::Stream>(current_stream());
}

// `post` takes the memory over, unless it makes no request.
template <typename Post>
Posted post_with_memory(const GroupState& group, const Tensor& tensor, const Post& post) {
  transport::DeviceMemory* const memory = begin_on_device(group, tensor);
  if (memory == nullptr) return {base::Code::exhausted};
  const Posted posted = post(memory);
  if (posted.request == nullptr) memory->release();
  return posted;
}

}  // namespace

transport::DeviceMemory* begin_on_device(const GroupState& group, const Tensor& tensor) noexcept {
  transport::cuda_ipc::Port& port = group.world->devices;
  if (port.open() == nullptr) return nullptr;
  auto* const address = const_cast<std::byte*>(tensor.data());  // a send only reads it
  return port.begin(tensor.device().index, stream_of_caller(), address, tensor.bytes());
}

Posted post_on_device(transport::Engine::Visit& visit, const GroupState& group, const Tensor& tensor,
                      transport::SendSpec spec, bool background) {
  return post_with_memory(group, tensor, [&](transport::DeviceMemory* memory) {
    spec.device = memory;
    spec.synchronous = true;
    return visit.send(spec, background);
  });
}

Posted post_on_device(transport::Engine::Visit& visit, const GroupState& group, const Tensor& tensor,
                      transport::ReceiveSpec spec, bool background) {
  return post_with_memory(group, tensor, [&](transport::DeviceMemory* memory) {
    spec.device = memory;
    return visit.receive(spec, background);
  });
}

void order_device(transport::Request& request) noexcept {
  if (!request.status.ok()) return;
  request.status = transport::cuda_ipc::status_of(
      static_cast<Transfer*>(request.device)->order(stream_of_caller(), Transfer::Look::briefly));
}

void order_after(int device, void* stream) {
  const cuda::Stream earlier = static_cast<cuda::Stream>(stream), current = stream_of_caller();
  if (earlier == current) return;
  cuda::Api& api = *cuda::runtime();
  const cuda::DeviceScope scope(api, device);
  cuda::Event reached = nullptr;
  cuda::Code code = api.create_event(reached);
  if (code == cuda::Code::ok) {
    code = api.record(reached, earlier);
    // A stream of another device cannot be told to record it.
    code = code == cuda::Code::ok ? api.wait(current, reached) : api.synchronize(earlier);
    (void)api.destroy_event(reached);  // the driver does so when it was reached
  }
  if (code != cuda::Code::ok) throw SystemError("wait: the device failed: " + api.describe(code));
}

void synchronize_device(int device, void* stream) {
  cuda::Api& api = *cuda::runtime();
  const cuda::DeviceScope scope(api, device);
  const cuda::Code code = api.synchronize(static_cast<cuda::Stream>(stream));
  if (code != cuda::Code::ok) throw SystemError("synchronize: the device failed: " + api.describe(code));
}

}  // namespace parley::detail
