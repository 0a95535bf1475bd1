#include "tensor/device_memory.h"

#include <parley/error.h>
#include <parley/stream.h>

#include <algorithm>
#include <new>
#include <string>

#include "transport/base/log.h"
#include "transport/cuda/runtime.h"

namespace parley {

using base::concat;
using cuda::Code;
using cuda::MemoryType;
using cuda::PointerFacts;

namespace {

cuda::Api& require_device(const char* operation, Device device) {
  cuda::Api* const api = cuda::runtime();
  if (api == nullptr)
    throw UsageError(concat(operation, ": there is no CUDA here: ", cuda::reason_against()));
  if (device.index < 0 || device.index >= api->device_count())
    throw UsageError(concat(operation, ": there is no ", to_string(device), " here, only ",
                            api->device_count() == 1 ? "cuda:0" : "cuda:0 to cuda:",
                            api->device_count() == 1 ? "" : std::to_string(api->device_count() - 1)));
  return *api;
}

std::string name_of(const PointerFacts& facts) {
  switch (facts.type) {
    case MemoryType::pageable: return "memory of the host";
    case MemoryType::pinned: return "pinned memory of the host";
    case MemoryType::device: return concat("memory of cuda:", facts.device);
    case MemoryType::managed: return "managed memory";
  }
  return "memory of an unknown kind";
}

cuda::Stream stream_of_caller() noexcept {
  return static_cast<cuda::Stream>(current_stream());
}

// Tells the caller's stream, and waits for it.
template <typename Tell>
void tell_and_wait(const char* what, Device device, const Tell& tell) {
  cuda::Api& api = require_device(what, device);
  const cuda::DeviceScope scope(api, device.index);
  Code code = tell(api);
  if (code == Code::ok) code = api.synchronize(stream_of_caller());
  if (code != Code::ok)
    throw SystemError(concat(what, ": ", to_string(device), " failed: ", api.describe(code)));
}

}  // namespace

int device_count() {
  cuda::Api* const api = cuda::runtime();
  return api != nullptr ? api->device_count() : 0;
}

Device device_of(const void* address) {
  cuda::Api* const api = cuda::runtime();
  PointerFacts facts;
  const bool is_known = api != nullptr && address != nullptr && api->facts_of(address, facts) == Code::ok;
  if (!is_known || facts.type == MemoryType::pageable || facts.type == MemoryType::pinned) return {};
  return {Device::cuda, std::max(facts.device, 0)};
}

namespace tensor {

void require_memory_of(const char* operation, const void* data, Device device) {
  cuda::Api& api = require_device(operation, device);
  PointerFacts facts;
  const Code code = api.facts_of(data, facts);
  const bool is_its =
      facts.type == MemoryType::managed || (facts.type == MemoryType::device && facts.device == device.index);
  if (code == Code::ok && is_its) return;
  throw UsageError(concat(operation, ": the address is no memory of ", to_string(device), ": it is ",
                          code == Code::ok ? name_of(facts) : api.describe(code)));
}

std::shared_ptr<std::byte> allocate_on(Device device, std::size_t bytes) {
  cuda::Api& api = require_device("a tensor", device);
  const cuda::DeviceScope scope(api, device.index);
  std::byte* memory = nullptr;
  if (api.allocate(std::max<std::size_t>(bytes, 1), memory) != Code::ok) throw std::bad_alloc();
  return {memory, [&api, device](std::byte* first) {
            // Where the process ends the driver may be gone, and the memory with it.
            const cuda::DeviceScope own(api, device.index);
            (void)api.free(first);
          }};
}

std::shared_ptr<std::byte> allocate_pinned(std::size_t bytes) {
  cuda::Api& api = require_device("a pinned tensor", {Device::cuda, 0});
  // Of any device, for it serves all: of the caller's, which has its context already.
  const int device = std::max(api.current_device(), 0);
  const cuda::DeviceScope scope(api, device);
  std::byte* memory = nullptr;
  if (api.allocate_pinned(std::max<std::size_t>(bytes, 1), memory) != Code::ok) throw std::bad_alloc();
  return {memory, [&api, device](std::byte* first) {
            const cuda::DeviceScope own(api, device);
            (void)api.free_pinned(first);
          }};
}

void fill_with_zeros(std::byte* memory, std::size_t bytes, Device device) {
  if (bytes == 0) return;
  tell_and_wait("zeros", device,
                [&](cuda::Api& api) { return api.fill(memory, 0, bytes, stream_of_caller()); });
}

void copy(std::byte* to, const std::byte* from, std::size_t bytes, Device device) {
  if (bytes == 0) return;
  tell_and_wait("to", device, [&](cuda::Api& api) { return api.copy(to, from, bytes, stream_of_caller()); });
}

}  // namespace tensor
}  // namespace parley
