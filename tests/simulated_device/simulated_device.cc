#include "tests/simulated_device/simulated_device.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include "transport/base/log.h"

namespace parley::cuda::testing {
namespace {

constexpr Code invalid_handle{400};

// The device that a thread has entered, and of which SimulatedDevice.
struct Entered {
  const SimulatedDevice* whose = nullptr;
  int device = -1;
};
thread_local Entered entered;

const char* words_of(Code code) {
  switch (code) {
    case Code::ok: return "no error";
    case Code::invalid_value: return "invalid argument";
    case Code::out_of_memory: return "out of memory";
    case Code::deinitialized: return "driver shutting down";
    case Code::no_device: return "no CUDA-capable device is detected";
    case Code::invalid_context: return "invalid device context";
    case Code::map_failed: return "mapping of buffer object failed";
    case Code::already_mapped: return "resource already mapped";
    case Code::not_found: return "named symbol not found";
    case Code::not_ready: return "device not ready";
    case Code::illegal_address: return "an illegal memory access was encountered";
    case Code::not_supported: return "operation not supported";
  }
  return nullptr;
}

}  // namespace

SimulatedDevice::SimulatedDevice() : SimulatedDevice(Options()) {}

SimulatedDevice::SimulatedDevice(Options options)
    : options_(options), memory_(options.devices, options.bytes_per_device, options.first_physical) {
  for (int i = 0; i < options.devices; ++i) devices_.push_back(std::make_unique<Device>());
}

SimulatedDevice::~SimulatedDevice() {
  // Threads first: what they do reaches for all the rest.
  streams_.clear();
  leaving_.clear();
  for (const auto& device : devices_) device->default_stream.reset();
}

// For tests
// -----------------------------------------------------------------------------------------------------

void SimulatedDevice::hold(Stream stream, int device) {
  stream_of(stream, device)->hold();
}
void SimulatedDevice::let_go(Stream stream, int device) {
  stream_of(stream, device)->let_go();
}
std::size_t SimulatedDevice::pending(Stream stream, int device) const {
  return stream_of(stream, device)->pending();
}

void SimulatedDevice::break_device(int device, Code code) {
  at(device).failure = code;
}

std::size_t SimulatedDevice::live_events() const {
  const std::lock_guard lock(mutex_);
  return events_.size();
}

std::size_t SimulatedDevice::live_registrations() const {
  const std::lock_guard lock(mutex_);
  return registrations_.size();
}

std::size_t SimulatedDevice::live_streams() const {
  const std::lock_guard lock(mutex_);
  return streams_.size();
}

// Devices
// -------------------------------------------------------------------------------------------------------

std::string SimulatedDevice::describe(Code code) const {
  const std::string number = base::concat("CUDA error ", static_cast<int>(code));
  const char* words = words_of(code);
  return words != nullptr ? base::concat(words, " (", number, ")") : number;
}

std::string SimulatedDevice::device_name(int device) const {
  return base::concat("simulated device ", options_.first_physical + device);
}

Code SimulatedDevice::reach_device(int other) noexcept {
  int device = -1;
  if (const Code code = begin(Call::reach_device, device); code != Code::ok) return code;
  return other >= 0 && other < device_count() && other != device ? Code::ok : Code::invalid_value;
}

Code SimulatedDevice::device_id(int device, DeviceId& id) noexcept {
  if (device < 0 || device >= device_count()) return Code::invalid_value;
  const std::string name = device_name(device);
  id = {};
  std::memcpy(id.data(), name.data() + name.size() - std::min(name.size(), id.size()),
              std::min(name.size(), id.size()));
  return Code::ok;
}

Code SimulatedDevice::enter_device(int device, void*& previous) noexcept {
  if (const Code code = calls_.begin(Call::enter_device); code != Code::ok) return code;
  if (device < 0 || device >= device_count()) return Code::invalid_value;
  previous = reinterpret_cast<void*>(static_cast<std::intptr_t>(current_device() + 1));
  entered = {this, device};
  return Code::ok;
}

void SimulatedDevice::leave_device(void* previous) noexcept {
  entered = {this, static_cast<int>(reinterpret_cast<std::intptr_t>(previous)) - 1};
}

int SimulatedDevice::current_device() const noexcept {
  return entered.whose == this ? entered.device : -1;
}

Code SimulatedDevice::begin(Call call, int& device) {
  if (const Code code = calls_.begin(call); code != Code::ok) return code;
  device = current_device();
  return device < 0 ? Code::invalid_context : failure_of(device);
}

Code SimulatedDevice::begin(Call call, Stream stream, Place& place) {
  if (const Code code = begin(call, place.device); code != Code::ok) return code;
  const std::lock_guard lock(mutex_);
  if (stream == default_stream) {
    place.work = at(place.device).default_stream;
    return Code::ok;
  }
  const auto found = streams_.find(stream);
  if (found == streams_.end()) return invalid_handle;
  place.work = found->second.work;
  return found->second.device == place.device ? Code::ok : Code::invalid_context;
}

Code SimulatedDevice::begin(Call call, Event event, OwnedEvent& owned) {
  int device = -1;
  const Code code = begin(call, device);
  return code == Code::ok ? find(event, owned) : code;
}

Code SimulatedDevice::find(Event event, OwnedEvent& owned) const {
  const std::lock_guard lock(mutex_);
  const auto found = events_.find(event);
  if (found == events_.end()) return invalid_handle;
  owned = found->second;
  return owned.device == current_device() ? Code::ok : Code::invalid_context;
}

// Streams
// -------------------------------------------------------------------------------------------------------

SimulatedDevice::StreamPtr SimulatedDevice::stream_of(Stream stream, int device) const {
  if (stream == default_stream) return at(device).default_stream;
  const std::lock_guard lock(mutex_);
  return streams_.at(stream).work;
}

void SimulatedDevice::enqueue(const Place& place, std::function<Code()> work) {
  place.work->enqueue([&failure = at(place.device).failure, work = std::move(work)] {
    if (failure != Code::ok) return;
    if (const Code code = work(); code != Code::ok) failure = code;
  });
}

void SimulatedDevice::drain(int device) {
  std::vector<StreamPtr> all;
  const auto add = [&](const OwnedStream& stream) {
    if (device < 0 || stream.device == device) all.push_back(stream.work);
  };
  for (int i = 0; i < device_count(); ++i) add({i, at(i).default_stream});
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [name, stream] : streams_) add(stream);
    for (const OwnedStream& stream : leaving_) add(stream);
  }
  for (const StreamPtr& stream : all) stream->drain();
}

Code SimulatedDevice::create_stream(Stream& stream) noexcept {
  int device = -1;
  if (const Code code = begin(Call::create_stream, device); code != Code::ok) return code;
  const std::lock_guard lock(mutex_);
  std::erase_if(leaving_, [](const OwnedStream& each) { return each.work->pending() == 0; });
  stream = reinterpret_cast<Stream>(next_name_++);
  streams_.emplace(stream, OwnedStream{device, std::make_shared<SimulatedStream>()});
  return Code::ok;
}

Code SimulatedDevice::destroy_stream(Stream stream) noexcept {
  if (const Code code = calls_.begin(Call::destroy_stream); code != Code::ok) return code;
  const std::lock_guard lock(mutex_);
  const auto found = streams_.find(stream);
  if (found == streams_.end()) return invalid_handle;
  if (found->second.device != current_device()) return Code::invalid_context;
  found->second.work->let_go();  // as in CUDA, what is in it is done
  leaving_.push_back(found->second);
  streams_.erase(found);
  return Code::ok;
}

bool SimulatedDevice::is_capturing(Stream stream) noexcept {
  return stream != nullptr && stream == captured_;
}

// Its streams' names are used once.
Code SimulatedDevice::stream_id(Stream stream, std::uint64_t& id) noexcept {
  Place place;
  id = reinterpret_cast<std::uintptr_t>(stream);
  return begin(Call::stream_id, stream, place);
}

bool SimulatedDevice::is_idle(Stream stream) noexcept {
  Place place;
  return begin(Call::is_idle, stream, place) == Code::ok && place.work->pending() == 0;
}

Code SimulatedDevice::synchronize(Stream stream) noexcept {
  Place place;
  if (const Code code = begin(Call::synchronize, stream, place); code != Code::ok) return code;
  place.work->drain();
  return failure_of(place.device);
}

// Events
// --------------------------------------------------------------------------------------------------------

Code SimulatedDevice::create_event(Event& event) noexcept {
  int device = -1;
  if (const Code code = begin(Call::create_event, device); code != Code::ok) return code;
  const std::lock_guard lock(mutex_);
  event = reinterpret_cast<Event>(next_name_++);
  events_.emplace(event, OwnedEvent{device, std::make_shared<SimulatedEvent>()});
  return Code::ok;
}

Code SimulatedDevice::destroy_event(Event event) noexcept {
  if (const Code code = calls_.begin(Call::destroy_event); code != Code::ok) return code;
  const std::lock_guard lock(mutex_);
  const auto found = events_.find(event);
  if (found == events_.end()) return invalid_handle;
  if (found->second.device != current_device()) return Code::invalid_context;
  events_.erase(found);
  return Code::ok;
}

Code SimulatedDevice::record(Event event, Stream stream) noexcept {
  Place place;
  OwnedEvent owned;
  if (const Code code = begin(Call::record, stream, place); code != Code::ok) return code;
  if (const Code code = find(event, owned); code != Code::ok) return code;
  place.work->enqueue(
      owned.event->record());  // done on a broken device, too: what waits for it must not hang
  return Code::ok;
}

Code SimulatedDevice::wait(Stream stream, Event event) noexcept {
  Place place;
  if (const Code code = begin(Call::wait, stream, place); code != Code::ok) return code;
  std::shared_ptr<SimulatedEvent> awaited;
  {
    const std::lock_guard lock(mutex_);
    const auto found = events_.find(event);
    if (found == events_.end()) return invalid_handle;
    awaited = found->second.event;
  }
  place.work->enqueue_wait([&failure = at(place.device).failure, reached = awaited->captured()] {
    return failure != Code::ok || reached();
  });
  return Code::ok;
}

Code SimulatedDevice::query(Event event) noexcept {
  OwnedEvent owned;
  if (const Code code = begin(Call::query, event, owned); code != Code::ok) return code;
  return owned.event->captured()() ? Code::ok : Code::not_ready;
}

Code SimulatedDevice::synchronize_event(Event event) noexcept {
  OwnedEvent owned;
  if (const Code code = begin(Call::synchronize_event, event, owned); code != Code::ok) return code;
  const std::function<bool()> reached = owned.event->captured();
  while (!reached() && failure_of(owned.device) == Code::ok)
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  return failure_of(owned.device);
}

// Words
// ---------------------------------------------------------------------------------------------------------

std::shared_ptr<const SimulatedDevice::Registration> SimulatedDevice::registration_of(
    const void* word) const {
  const auto address = reinterpret_cast<std::uintptr_t>(word);
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(registrations_.begin(), registrations_.end(),
                                  [&](const auto& each) { return address - each->begin < each->bytes; });
  return found == registrations_.end() ? nullptr : *found;
}

Code SimulatedDevice::write_word(Stream stream, std::atomic<std::uint32_t>& word,
                                 std::uint32_t value) noexcept {
  Place place;
  if (const Code code = begin(Call::write_word, stream, place); code != Code::ok) return code;
  auto used = registration_of(&word);
  if (used == nullptr) return Code::invalid_value;
  // release: who sees the value sees what the stream did before. Pairs with wait_word().
  enqueue(place, [used = std::move(used), &word, value] {
    word.store(value, std::memory_order_release);
    return Code::ok;
  });
  return Code::ok;
}

Code SimulatedDevice::wait_word(Stream stream, const std::atomic<std::uint32_t>& word,
                                std::uint32_t value) noexcept {
  Place place;
  if (const Code code = begin(Call::wait_word, stream, place); code != Code::ok) return code;
  auto used = registration_of(&word);
  if (used == nullptr) return Code::invalid_value;
  place.work->enqueue_wait([&failure = at(place.device).failure, used = std::move(used), &word, value] {
    const std::uint32_t past = word.load(std::memory_order_acquire) - value;  // pairs with write_word()
    return failure != Code::ok || static_cast<std::int32_t>(past) >= 0;
  });
  return Code::ok;
}

}  // namespace parley::cuda::testing
