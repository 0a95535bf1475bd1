#pragma once

#include <parley/tensor.h>

#include "api/group_state.h"
#include "transport/engine/engine.h"

// Sends and receives of tensors that may be on a device, and the streams of those who wait for them.
namespace parley::detail {

// The caller's memory on a device, as the messenger takes it, in the order of the caller's current stream.
// Null: out of memory. REQUIRES: the engine's lock; check_tensor() was passed.
transport::DeviceMemory* begin_on_device(const GroupState& group, const Tensor& tensor) noexcept;

transport::Posted post_on_device(transport::Engine::Visit& visit, const GroupState& group,
                                 const Tensor& tensor, transport::SendSpec spec, bool background);
transport::Posted post_on_device(transport::Engine::Visit& visit, const GroupState& group,
                                 const Tensor& tensor, transport::ReceiveSpec spec, bool background);

// As visit.send() and visit.receive().
inline transport::Posted post(transport::Engine::Visit& visit, const GroupState& group, const Tensor& tensor,
                              const transport::SendSpec& spec, bool background) {
  if (tensor.device().is_cpu()) [[likely]]
    return visit.send(spec, background);
  return post_on_device(visit, group, tensor, spec, background);
}
inline transport::Posted post(transport::Engine::Visit& visit, const GroupState& group, const Tensor& tensor,
                              const transport::ReceiveSpec& spec, bool background) {
  if (tensor.device().is_cpu()) [[likely]]
    return visit.receive(spec, background);
  return post_on_device(visit, group, tensor, spec, background);
}

void order_device(transport::Request& request) noexcept;
// Has the caller's current stream go on after a request that has ended, before it is released; if that cannot
// be, the request has failed. REQUIRES: the engine's lock.
inline void order_stream(transport::Request& request) noexcept {
  if (request.device != nullptr) [[unlikely]]
    order_device(request);
}

// Has the caller's current stream go on after all that `stream` was told. Throws SystemError.
void order_after(int device, void* stream);

// Blocks until the device has done all that the stream was told. Throws SystemError.
void synchronize_device(int device, void* stream);

}  // namespace parley::detail
