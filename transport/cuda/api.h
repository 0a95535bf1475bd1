#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace parley::cuda {

// What a call of CUDA's driver came to. The numbers are the driver's (CUresult); those that Parley decides by
// have names here, any other is a failure as well.
enum class Code : int {
  ok = 0,
  invalid_value = 1,
  out_of_memory = 2,
  deinitialized = 4,  // the process ends
  no_device = 100,
  invalid_context = 201,
  map_failed = 205,
  already_mapped = 208,  // import_memory: this process has opened that memory already
  not_found = 500,
  not_ready = 600,  // query: the work before the event has not ended. No failure
  illegal_address = 700,
  not_supported = 801,
};

// The driver's own pointers, opaque here: a Stream is a CUstream (a cudaStream_t), an Event a CUevent.
struct OpaqueStream;
struct OpaqueEvent;
using Stream = OpaqueStream*;
using Event = OpaqueEvent*;
// The legacy default stream of whichever device is entered.
inline constexpr Stream default_stream = nullptr;

// What another process of this host opens.
struct MemoryHandle {
  std::array<std::byte, 64> bytes{};
  friend bool operator==(const MemoryHandle&, const MemoryHandle&) = default;
};
using DeviceId = std::array<std::byte, 16>;  // the same in every process, however devices are numbered there

enum class MemoryType : std::uint8_t {
  pageable,  // of the host; CUDA knows nothing of it
  pinned,    // of the host, allocated by or registered with CUDA
  device,
  managed,
};

struct PointerFacts {
  MemoryType type = MemoryType::pageable;
  int device = -1;  // device: whose it is; managed: for which it was made
  // device: the allocation that it lies in, and a number that no other allocation of this process has had.
  std::byte* base = nullptr;
  std::size_t bytes = 0;
  std::uint64_t buffer_id = 0;
  bool can_be_exported = false;  // by export_memory()
};

// One kernel to be launched. `arguments` is the kernel's only parameter, a trivially copyable struct by
// value.
struct Launch {
  const char* name = nullptr;
  std::uint32_t blocks = 1;
  std::uint32_t threads = 1;
  std::span<const std::byte> arguments;
};

// The one way to CUDA: what Parley needs of the driver, so that all above can run on a simulated device.
// Memory of a device is named by its address; the CPU never follows one.
// Calls about streams, events and memory are made with their device entered (DeviceScope), but for those that
// take its number. What is enqueued is done in the stream's order, and the call does not wait for it.
// Thread-safety: all calls, from any thread. Nothing throws.
class Api {
 public:
  virtual ~Api() = default;

  // For people.
  [[nodiscard]] virtual std::string describe(Code code) const = 0;  // "out of memory (CUDA error 2)"
  [[nodiscard]] virtual std::string version() const = 0;            // "CUDA driver 13.0"
  [[nodiscard]] virtual std::string device_name(int device) const = 0;

  [[nodiscard]] virtual int device_count() const noexcept = 0;
  virtual Code device_id(int device, DeviceId& id) noexcept = 0;
  // The device of the calling thread from now on; `previous` goes back into leave_device(). Cheap if it is so
  // already. The first call for a device makes its context. Meanwhile captures of graphs
  // neither forbid this thread's calls nor are spoilt by them, but for what the default stream is told while
  // a stream that waits for it is captured.
  virtual Code enter_device(int device, void*& previous) noexcept = 0;
  virtual void leave_device(void* previous) noexcept = 0;
  // The number of the device that the calling thread's caller has made current, if there is one; else -1.
  [[nodiscard]] virtual int current_device() const noexcept = 0;

  // Has what the entered device does reach memory of another one of this process by itself, from now on.
  // Fails where no way leads there; copies then go by way of the host.
  virtual Code reach_device(int other) noexcept = 0;

  // Of the entered device; freed with the same device entered. May wait for what runs there.
  virtual Code allocate(std::size_t bytes, std::byte*& memory) noexcept = 0;
  virtual Code free(std::byte* memory) noexcept = 0;
  // Of the host, readable by every device.
  virtual Code allocate_pinned(std::size_t bytes, std::byte*& memory) noexcept = 0;
  virtual Code free_pinned(std::byte* memory) noexcept = 0;
  // Memory of the host that is there already, whole pages: streams of every device reach it from now on, and
  // those of other processes that map and register it, too. It is unregistered when no stream uses it.
  virtual Code register_host(void* memory, std::size_t bytes) noexcept = 0;
  virtual Code unregister_host(void* memory) noexcept = 0;
  // Any address, of the host as well.
  virtual Code facts_of(const void* address, PointerFacts& facts) noexcept = 0;

  virtual Code create_stream(Stream& stream) noexcept = 0;  // that does not wait for the default stream
  virtual Code destroy_stream(Stream stream) noexcept = 0;
  // What it is told is not done now but noted in a CUDA graph; or another stream's capture forbids to tell it
  // anything.
  [[nodiscard]] virtual bool is_capturing(Stream stream) noexcept = 0;
  // A number by which no other stream of this process is ever known: an address may be used again.
  virtual Code stream_id(Stream stream, std::uint64_t& id) noexcept = 0;
  // Whether it has done everything that it was told, and what it waits for by itself (the default stream for
  // others). False, too, where that cannot be told.
  [[nodiscard]] virtual bool is_idle(Stream stream) noexcept = 0;
  // Blocks until everything in it has been done; tells failures of that.
  virtual Code synchronize(Stream stream) noexcept = 0;

  virtual Code create_event(Event& event) noexcept = 0;  // without timing, of this process alone
  virtual Code destroy_event(Event event) noexcept = 0;
  virtual Code record(Event event, Stream stream) noexcept = 0;
  // What `stream` does from now on begins after what was in `event` when this was called; an event that was
  // never recorded is no obstacle.
  virtual Code wait(Stream stream, Event event) noexcept = 0;
  virtual Code query(Event event) noexcept = 0;  // ok, not_ready, or how the work before it failed
  virtual Code synchronize_event(Event event) noexcept = 0;

  // In registered memory. `stream` stores `value` when it has done all that it was told before; who sees it,
  // on any device and on the host, sees all of that.
  virtual Code write_word(Stream stream, std::atomic<std::uint32_t>& word, std::uint32_t value) noexcept = 0;
  // What `stream` does from now on begins when `word` is `value` or one of the 2^31 numbers after it.
  virtual Code wait_word(Stream stream, const std::atomic<std::uint32_t>& word,
                         std::uint32_t value) noexcept = 0;

  // Between any two kinds of memory. Host memory is pinned, or the call may wait.
  virtual Code copy(void* to, const void* from, std::size_t bytes, Stream stream) noexcept = 0;
  virtual Code fill(void* to, std::uint8_t value, std::size_t bytes, Stream stream) noexcept = 0;

  // For another process of this host. `base` is that of an allocation.
  virtual Code export_memory(std::byte* base, MemoryHandle& handle) noexcept = 0;
  // If this process has it open: the same address, to be closed once more, or `already_mapped`. Fails always
  // for the process's own.
  virtual Code import_memory(const MemoryHandle& handle, std::byte*& base) noexcept = 0;
  virtual Code close_memory(std::byte* base) noexcept = 0;

  // Makes kernels known, once for each image (a fatbin), which stays where it is; found by name in all of
  // them.
  virtual Code add_kernels(std::span<const std::byte> image) noexcept = 0;
  virtual Code launch(const Launch& what, Stream stream) noexcept = 0;
};

// A device entered for as long as this lives. If code() is not ok, it was not.
class DeviceScope {
 public:
  DeviceScope(Api& api, int device) noexcept : api_(api), code_(api.enter_device(device, previous_)) {}
  ~DeviceScope() {
    if (code_ == Code::ok) api_.leave_device(previous_);
  }
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;
  [[nodiscard]] Code code() const noexcept { return code_; }

 private:
  Api& api_;
  void* previous_ = nullptr;
  Code code_;
};

}  // namespace parley::cuda
