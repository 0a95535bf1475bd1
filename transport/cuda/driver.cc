#include "transport/cuda/driver.h"

#include <array>
#include <atomic>
#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

#include "transport/base/log.h"
#include "transport/cuda/driver_functions.h"
#include "transport/cuda/driver_kernels.h"

namespace parley::cuda {
namespace {

template <Code ours, CUresult theirs>
constexpr bool is_same = static_cast<int>(ours) == static_cast<int>(theirs);
static_assert(is_same<Code::ok, CUDA_SUCCESS>);
static_assert(is_same<Code::invalid_value, CUDA_ERROR_INVALID_VALUE>);
static_assert(is_same<Code::out_of_memory, CUDA_ERROR_OUT_OF_MEMORY>);
static_assert(is_same<Code::deinitialized, CUDA_ERROR_DEINITIALIZED>);
static_assert(is_same<Code::no_device, CUDA_ERROR_NO_DEVICE>);
static_assert(is_same<Code::invalid_context, CUDA_ERROR_INVALID_CONTEXT>);
static_assert(is_same<Code::map_failed, CUDA_ERROR_MAP_FAILED>);
static_assert(is_same<Code::already_mapped, CUDA_ERROR_ALREADY_MAPPED>);
static_assert(is_same<Code::not_found, CUDA_ERROR_NOT_FOUND>);
static_assert(is_same<Code::not_ready, CUDA_ERROR_NOT_READY>);
static_assert(is_same<Code::illegal_address, CUDA_ERROR_ILLEGAL_ADDRESS>);
static_assert(is_same<Code::not_supported, CUDA_ERROR_NOT_SUPPORTED>);
static_assert(sizeof(MemoryHandle) == sizeof(CUipcMemHandle));
static_assert(sizeof(DeviceId) == sizeof(CUuuid));

Code code_of(CUresult result) noexcept {
  return static_cast<Code>(result);
}
CUstream theirs(Stream stream) noexcept {
  return reinterpret_cast<CUstream>(stream);
}
CUevent theirs(Event event) noexcept {
  return reinterpret_cast<CUevent>(event);
}
CUdeviceptr address_of(const void* memory) noexcept {
  return reinterpret_cast<CUdeviceptr>(memory);
}
std::byte* pointer_to(CUdeviceptr address) noexcept {
  return reinterpret_cast<std::byte*>(address);
}

// How often the calling thread has entered a device, one within the other.
struct Entered {
  int depth = 0;
  CUstreamCaptureMode mode_before = CU_STREAM_CAPTURE_MODE_GLOBAL;  // while there is one: the caller's own
};
constinit thread_local Entered entered;

class Driver final : public Api {
 public:
  // `devices` are the driver's names of them, by our number.
  Driver(const DriverFunctions& functions, std::vector<CUdevice> devices)
      : call_(functions),
        devices_(std::move(devices)),
        contexts_(devices_.size()),
        kernels_(call_, static_cast<int>(devices_.size())) {}

  [[nodiscard]] std::string describe(Code code) const override {
    const char* words = nullptr;
    const std::string number = base::concat("CUDA error ", static_cast<int>(code));
    if (call_.get_error_string(static_cast<CUresult>(code), &words) != CUDA_SUCCESS || words == nullptr)
      return number;
    return base::concat(words, " (", number, ")");
  }
  [[nodiscard]] std::string version() const override {
    return base::concat("CUDA driver ", version_text(call_.version));
  }
  [[nodiscard]] std::string device_name(int device) const override {
    std::array<char, 256> name{};
    if (!is_device(device)) return {};
    if (call_.device_get_name(name.data(), static_cast<int>(name.size()) - 1, named(device)) != CUDA_SUCCESS)
      return {};
    return name.data();
  }

  [[nodiscard]] int device_count() const noexcept override { return static_cast<int>(devices_.size()); }
  Code device_id(int device, DeviceId& id) noexcept override {
    if (!is_device(device)) return Code::invalid_value;
    CUuuid uuid{};
    const CUresult result = call_.device_get_uuid(&uuid, named(device));
    std::memcpy(id.data(), uuid.bytes, id.size());
    return code_of(result);
  }

  Code enter_device(int device, void*& previous) noexcept override {
    if (!is_device(device)) return Code::invalid_value;
    CUcontext context = nullptr;
    CUcontext before = nullptr;
    if (const Code code = context_of(device, context); code != Code::ok) return code;
    if (const CUresult result = call_.context_get_current(&before); result != CUDA_SUCCESS)
      return code_of(result);
    previous = before;
    if (before != context)
      if (const CUresult result = call_.context_set_current(context); result != CUDA_SUCCESS)
        return code_of(result);
    if (entered.depth++ == 0) exchange_capture_mode();
    return Code::ok;
  }
  void leave_device(void* previous) noexcept override {
    if (--entered.depth == 0) exchange_capture_mode();
    CUcontext now = nullptr;
    if (call_.context_get_current(&now) == CUDA_SUCCESS && now != previous)
      (void)call_.context_set_current(static_cast<CUcontext>(previous));
  }
  [[nodiscard]] int current_device() const noexcept override {
    CUcontext context = nullptr;
    CUdevice device = 0;
    if (call_.context_get_current(&context) != CUDA_SUCCESS || context == nullptr) return -1;
    if (call_.context_get_device(&device) != CUDA_SUCCESS) return -1;
    for (std::size_t i = 0; i < devices_.size(); ++i)
      if (devices_[i] == device) return static_cast<int>(i);
    return -1;
  }

  Code reach_device(int other) noexcept override {
    CUcontext context = nullptr;
    if (!is_device(other)) return Code::invalid_value;
    if (const Code code = context_of(other, context); code != Code::ok) return code;
    const CUresult result = call_.enable_peer_access(context, 0);
    return result == CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED ? Code::ok : code_of(result);
  }

  Code allocate(std::size_t bytes, std::byte*& memory) noexcept override {
    CUdeviceptr address = 0;
    const CUresult result = call_.mem_alloc(&address, bytes);
    memory = pointer_to(address);
    return code_of(result);
  }
  Code free(std::byte* memory) noexcept override { return code_of(call_.mem_free(address_of(memory))); }
  Code allocate_pinned(std::size_t bytes, std::byte*& memory) noexcept override {
    void* pinned = nullptr;
    const CUresult result = call_.mem_host_alloc(&pinned, bytes, CU_MEMHOSTALLOC_PORTABLE);
    memory = static_cast<std::byte*>(pinned);
    return code_of(result);
  }
  Code free_pinned(std::byte* memory) noexcept override { return code_of(call_.mem_free_host(memory)); }
  Code register_host(void* memory, std::size_t bytes) noexcept override;
  Code unregister_host(void* memory) noexcept override { return code_of(call_.mem_host_unregister(memory)); }
  Code facts_of(const void* address, PointerFacts& facts) noexcept override;

  Code create_stream(Stream& stream) noexcept override {
    return code_of(call_.stream_create(reinterpret_cast<CUstream*>(&stream), CU_STREAM_NON_BLOCKING));
  }
  Code destroy_stream(Stream stream) noexcept override {
    return code_of(call_.stream_destroy(theirs(stream)));
  }
  [[nodiscard]] bool is_capturing(Stream stream) noexcept override {
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    const CUresult asked = call_.stream_is_capturing(theirs(stream), &status);
    return asked == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT ||
           (asked == CUDA_SUCCESS && status != CU_STREAM_CAPTURE_STATUS_NONE);
  }
  Code stream_id(Stream stream, std::uint64_t& id) noexcept override {
    unsigned long long theirs_id = 0;
    const CUresult result = call_.stream_get_id(theirs(stream), &theirs_id);
    id = theirs_id;
    return code_of(result);
  }
  // The default stream is not ready either while a stream that it waits for works (seen with driver 580).
  [[nodiscard]] bool is_idle(Stream stream) noexcept override {
    return call_.stream_query(theirs(stream)) == CUDA_SUCCESS;
  }
  Code synchronize(Stream stream) noexcept override {
    return code_of(call_.stream_synchronize(theirs(stream)));
  }

  Code create_event(Event& event) noexcept override {
    return code_of(call_.event_create(reinterpret_cast<CUevent*>(&event), CU_EVENT_DISABLE_TIMING));
  }
  Code destroy_event(Event event) noexcept override { return code_of(call_.event_destroy(theirs(event))); }
  Code record(Event event, Stream stream) noexcept override {
    return code_of(call_.event_record(theirs(event), theirs(stream)));
  }
  Code wait(Stream stream, Event event) noexcept override {
    return code_of(call_.stream_wait_event(theirs(stream), theirs(event), CU_EVENT_WAIT_DEFAULT));
  }
  Code query(Event event) noexcept override {
    const CUresult result = call_.event_query(theirs(event));
    // A capture forbids to ask: it tells nothing about the event.
    if (result == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED) return Code::not_ready;
    return code_of(result);
  }
  Code synchronize_event(Event event) noexcept override {
    return code_of(call_.event_synchronize(theirs(event)));
  }

  Code write_word(Stream stream, std::atomic<std::uint32_t>& word, std::uint32_t value) noexcept override {
    return code_of(
        call_.stream_write_value(theirs(stream), address_of(&word), value, CU_STREAM_WRITE_VALUE_DEFAULT));
  }
  Code wait_word(Stream stream, const std::atomic<std::uint32_t>& word,
                 std::uint32_t value) noexcept override {
    return code_of(
        call_.stream_wait_value(theirs(stream), address_of(&word), value, CU_STREAM_WAIT_VALUE_GEQ));
  }

  Code copy(void* to, const void* from, std::size_t bytes, Stream stream) noexcept override {
    if (bytes == 0) return Code::ok;
    return code_of(call_.memcpy_async(address_of(to), address_of(from), bytes, theirs(stream)));
  }
  Code fill(void* to, std::uint8_t value, std::size_t bytes, Stream stream) noexcept override {
    if (bytes == 0) return Code::ok;
    return code_of(call_.memset_async(address_of(to), value, bytes, theirs(stream)));
  }

  Code export_memory(std::byte* base, MemoryHandle& handle) noexcept override {
    CUipcMemHandle theirs{};
    const CUresult result = call_.ipc_get_mem_handle(&theirs, address_of(base));
    std::memcpy(handle.bytes.data(), &theirs, sizeof theirs);
    return code_of(result);
  }
  Code import_memory(const MemoryHandle& handle, std::byte*& base) noexcept override {
    CUipcMemHandle theirs{};
    CUdeviceptr address = 0;
    std::memcpy(&theirs, handle.bytes.data(), sizeof theirs);
    const CUresult result = call_.ipc_open_mem_handle(&address, theirs, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
    base = pointer_to(address);
    return code_of(result);
  }
  Code close_memory(std::byte* base) noexcept override {
    return code_of(call_.ipc_close_mem_handle(address_of(base)));
  }
  Code add_kernels(std::span<const std::byte> image) noexcept override {
    kernels_.add(image);
    return Code::ok;
  }
  Code launch(const Launch& what, Stream stream) noexcept override {
    const int device = current_device();
    if (device < 0) return Code::invalid_context;
    CUfunction kernel = nullptr;
    if (const Code code = kernels_.find(what.name, device, kernel); code != Code::ok) return code;
    // The driver copies what the parameters point to before it returns.
    void* parameters[] = {const_cast<std::byte*>(what.arguments.data())};
    return code_of(call_.launch_kernel(kernel, what.blocks, 1, 1, what.threads, 1, 1, 0, theirs(stream),
                                       what.arguments.empty() ? nullptr : parameters, nullptr));
  }

 private:
  [[nodiscard]] bool is_device(int device) const noexcept { return device >= 0 && device < device_count(); }
  [[nodiscard]] CUdevice named(int device) const noexcept {
    return devices_[static_cast<std::size_t>(device)];
  }

  // Who captures a graph in the mode "global", as most do, forbids all threads many a call, such as to query
  // an event, and one that is made all the same spoils the capture. Ours have nothing to do with it.
  void exchange_capture_mode() noexcept {
    CUstreamCaptureMode mode = entered.depth > 0 ? CU_STREAM_CAPTURE_MODE_RELAXED : entered.mode_before;
    (void)call_.exchange_capture_mode(&mode);
    entered.mode_before = mode;
  }

  // The device's primary context, which is the one that the CUDA runtime and PyTorch use, too. Made at first
  // use and never released: it costs hundreds of MiB and up to a second.
  Code context_of(int device, CUcontext& context) noexcept {
    std::atomic<CUcontext>& known = contexts_[static_cast<std::size_t>(device)];
    // acquire: pairs with the release below, so that the context is complete for this thread.
    context = known.load(std::memory_order_acquire);
    if (context != nullptr) return Code::ok;
    const std::lock_guard lock(contexts_mutex_);
    context = known.load(std::memory_order_relaxed);  // relaxed: it is written under this lock only
    if (context != nullptr) return Code::ok;
    const CUresult result = call_.primary_context_retain(&context, named(device));
    if (result == CUDA_SUCCESS) known.store(context, std::memory_order_release);  // see above
    return code_of(result);
  }

  const DriverFunctions call_;
  const std::vector<CUdevice> devices_;
  std::mutex contexts_mutex_;
  std::vector<std::atomic<CUcontext>> contexts_;
  DriverKernels kernels_;
};

Code Driver::register_host(void* memory, std::size_t bytes) noexcept {
  constexpr unsigned flags = CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP;
  if (const CUresult result = call_.mem_host_register(memory, bytes, flags); result != CUDA_SUCCESS)
    return code_of(result);
  // Everywhere but on some systems of embedded processors it is the address that the host uses.
  CUdeviceptr seen = 0;
  const CUresult result = call_.mem_host_get_device(&seen, memory, 0);
  if (result == CUDA_SUCCESS && seen == address_of(memory)) return Code::ok;
  (void)call_.mem_host_unregister(memory);
  return result == CUDA_SUCCESS ? Code::not_supported : code_of(result);
}

Code Driver::facts_of(const void* address, PointerFacts& facts) noexcept {
  facts = {};
  unsigned type = 0;
  // 64 bits wherever the driver may write a bool or an int.
  std::uint64_t is_managed = 0;
  std::uint64_t is_exportable = 0;
  unsigned long long buffer_id = 0;
  int device = -1;
  CUdeviceptr base = 0;
  std::size_t bytes = 0;
  std::array attributes = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                           CU_POINTER_ATTRIBUTE_IS_MANAGED,
                           CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                           CU_POINTER_ATTRIBUTE_BUFFER_ID,
                           CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
                           CU_POINTER_ATTRIBUTE_RANGE_SIZE,
                           CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE};
  std::array<void*, attributes.size()> values = {&type, &is_managed, &device,       &buffer_id,
                                                 &base, &bytes,      &is_exportable};
  const CUresult result = call_.pointer_get_attributes(static_cast<unsigned>(attributes.size()),
                                                       attributes.data(), values.data(), address_of(address));
  // Memory that CUDA knows nothing of is either no valid value to it or has no type.
  if (result == CUDA_ERROR_INVALID_VALUE) return Code::ok;
  if (result != CUDA_SUCCESS) return code_of(result);
  if (is_managed != 0) {
    facts.type = MemoryType::managed;
    facts.device = device;
  } else if (type == CU_MEMORYTYPE_HOST) {
    facts.type = MemoryType::pinned;
  } else if (type == CU_MEMORYTYPE_DEVICE) {
    facts.type = MemoryType::device;
    facts.device = device;
    facts.base = pointer_to(base);
    facts.bytes = bytes;
    facts.buffer_id = buffer_id;
    facts.can_be_exported = is_exportable != 0;
  }
  return Code::ok;
}

// In words why CUDA cannot be used though the driver is there; "" and the devices if it can.
std::string initialize(const DriverFunctions& call, std::vector<CUdevice>& devices) {
  const auto because = [&](CUresult result) {
    const char* words = nullptr;
    if (call.get_error_string(result, &words) != CUDA_SUCCESS || words == nullptr) words = "unknown";
    return base::concat(words, " (CUDA error ", static_cast<int>(result), ")");
  };
  int count = 0;
  CUresult result = call.init(0);
  if (result == CUDA_SUCCESS) result = call.device_get_count(&count);
  if (result == CUDA_ERROR_NO_DEVICE || (result == CUDA_SUCCESS && count == 0))
    return "the CUDA driver finds no device that this process may use";
  if (result != CUDA_SUCCESS) return base::concat("CUDA cannot be initialised: ", because(result));
  devices.resize(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i)
    if (result = call.device_get(&devices[static_cast<std::size_t>(i)], i); result != CUDA_SUCCESS)
      return base::concat("CUDA does not give device ", i, ": ", because(result));
  return {};
}

}  // namespace

OpenedDriver open_driver(const char* library) {
  DriverFunctions functions;
  std::vector<CUdevice> devices;
  if (std::string reason = find_functions(library, functions); !reason.empty())
    return {nullptr, std::move(reason)};
  if (std::string reason = initialize(functions, devices); !reason.empty())
    return {nullptr, std::move(reason)};
  return {std::make_unique<Driver>(functions, std::move(devices)), {}};
}

}  // namespace parley::cuda
