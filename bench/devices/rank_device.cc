#include "bench/devices/rank_device.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "bench/sizes.h"

namespace parley::bench {

RankDevice::RankDevice(cuda::Api& api, int number) : api_(api), number_(number), scope_(api, number) {
  require(scope_.code(), "entering it");
  require(api_.create_event(event_), "making an event");
}

RankDevice::~RankDevice() {
  (void)api_.destroy_event(event_);
}

void RankDevice::require(cuda::Code code, const char* call) const {
  if (code == cuda::Code::ok) [[likely]]
    return;
  throw std::runtime_error("device " + std::to_string(number_) + ": " + call + ": " + api_.describe(code));
}

void RankDevice::copy(void* to, const void* from, std::size_t bytes) {
  require(api_.copy(to, from, bytes, cuda::default_stream), "copying");
}

void RankDevice::fill(void* to, std::uint8_t value, std::size_t bytes) {
  require(api_.fill(to, value, bytes, cuda::default_stream), "filling memory");
}

void RankDevice::finish() {
  require(api_.record(event_, cuda::default_stream), "recording an event");
  require(api_.synchronize_event(event_), "waiting for an event");
}

DeviceBytes::DeviceBytes(RankDevice& device, std::size_t bytes, Kind kind, int number)
    : device_(device), bytes_(std::max(bytes, std::size_t{1})), kind_(kind), number_(number) {
  cuda::Api& api = device.api();
  const cuda::DeviceScope scope(api, number);
  device.require(scope.code(), "entering a device");
  const cuda::Code code =
      kind == Kind::pinned ? api.allocate_pinned(bytes_, data_) : api.allocate(bytes_, data_);
  device.require(code, ("allocating " + format_size(bytes_)).c_str());
}

DeviceBytes::~DeviceBytes() {
  cuda::Api& api = device_.api();
  const cuda::DeviceScope scope(api, number_);
  (void)(kind_ == Kind::pinned ? api.free_pinned(data_) : api.free(data_));
}

}  // namespace parley::bench
