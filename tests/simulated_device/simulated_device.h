#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "tests/simulated_device/calls.h"
#include "tests/simulated_device/events.h"
#include "tests/simulated_device/memory.h"
#include "tests/simulated_device/stream.h"
#include "transport/cuda/api.h"

namespace parley::cuda::testing {

// What a kernel may do with the addresses in its arguments.
class KernelMemory {
 public:
  explicit KernelMemory(const Memory& memory) : memory_(memory) {}
  // Where `bytes` bytes at that address can be read and written while the kernel runs. Memory that a device
  // does not reach (pageable, freed, too short) ends the kernel, and the device with Code::illegal_address.
  [[nodiscard]] void* reach(const void* device_address, std::size_t bytes = 1) const;
  struct IllegalAddress {};

 private:
  const Memory& memory_;
  mutable std::vector<std::shared_ptr<const Mapping>> kept_;
};
using Kernel = std::function<void(std::span<const std::byte> arguments, const KernelMemory& memory)>;

// GPUs made of memory and threads, shared by processes of one user on one host: README.md says what is as in
// CUDA. Stricter than CUDA in this: what the Api wants the device entered for fails with invalid_context
// else. Starts no thread before the first work; a process that forks has none, and its child makes its own.
// Thread-safety: all calls, but nothing is called while it dies. What a stream has not begun then is dropped.
class SimulatedDevice final : public Api {
 public:
  struct Options {
    int devices = 1;
    std::size_t bytes_per_device = std::size_t{256} << 20;  // of this process, not shared with others
    int first_physical = 0;  // which GPU of the host is device 0 here, as CUDA_VISIBLE_DEVICES would say
  };
  SimulatedDevice();
  explicit SimulatedDevice(Options options);
  ~SimulatedDevice() override;

  // For tests
  // ---------------------------------------------------------------------------------------------------

  // The stream begins no further work until let_go(); what it does has ended when this returns. `device`
  // tells whose default stream is meant. Calls that wait for the stream, free() among them, then block.
  void hold(Stream stream, int device = 0);
  void let_go(Stream stream, int device = 0);
  // Until the next call with null, the stream says that a CUDA graph is captured of it. It does what it is
  // told all the same.
  void pretend_capture(Stream stream) noexcept { captured_ = stream; }
  // Enqueued and not yet done.
  [[nodiscard]] std::size_t pending(Stream stream, int device = 0) const;

  [[nodiscard]] std::uint64_t count(Call call) const { return calls_.count(call); }
  // Copies that had to wait because the memory of the host was pageable.
  [[nodiscard]] std::uint64_t waiting_copies() const noexcept { return waiting_copies_; }
  // Copies of a device for which the memory was not opened: they go by way of the host.
  [[nodiscard]] std::uint64_t staged_copies() const noexcept { return staged_copies_; }
  // The next calls of this kind do nothing and fail so.
  void fail_next(Call call, Code code, int times = 1) { calls_.fail_next(call, code, times); }
  // From now on what is enqueued there is not done, and every call about it fails so, as after a kernel's
  // illegal access.
  void break_device(int device, Code code);

  // Of the entered device, as by cudaMallocAsync: cannot be exported. Freed with free().
  Code allocate_pool_memory(std::size_t bytes, std::byte*& memory);
  // For the entered device. Freed with free().
  Code allocate_managed(std::size_t bytes, std::byte*& memory);
  // Where the test reads and writes what a device address names, without a stream. Null: it names nothing.
  [[nodiscard]] std::byte* reach(const void* device_address, std::size_t bytes = 1) const;

  void add_kernel(std::string name, Kernel kernel);

  // What was not given back: memory of devices and of the host, imports, events, registrations, streams.
  [[nodiscard]] std::size_t live_allocations() const;
  [[nodiscard]] std::size_t open_imports() const;
  [[nodiscard]] std::size_t live_events() const;
  [[nodiscard]] std::size_t live_streams() const;
  [[nodiscard]] std::size_t live_registrations() const;

  // Api
  // ---------------------------------------------------------------------------------------------------------

  [[nodiscard]] std::string describe(Code code) const override;
  [[nodiscard]] std::string version() const override { return "simulated CUDA driver"; }
  [[nodiscard]] std::string device_name(int device) const override;
  [[nodiscard]] int device_count() const noexcept override { return static_cast<int>(devices_.size()); }
  Code device_id(int device, DeviceId& id) noexcept override;
  Code enter_device(int device, void*& previous) noexcept override;
  void leave_device(void* previous) noexcept override;
  [[nodiscard]] int current_device() const noexcept override;
  Code reach_device(int other) noexcept override;

  Code allocate(std::size_t bytes, std::byte*& memory) noexcept override;
  Code free(std::byte* memory) noexcept override;
  Code allocate_pinned(std::size_t bytes, std::byte*& memory) noexcept override;
  Code free_pinned(std::byte* memory) noexcept override;
  Code register_host(void* memory, std::size_t bytes) noexcept override;
  Code unregister_host(void* memory) noexcept override;
  Code facts_of(const void* address, PointerFacts& facts) noexcept override;

  Code create_stream(Stream& stream) noexcept override;
  Code destroy_stream(Stream stream) noexcept override;
  [[nodiscard]] bool is_capturing(Stream stream) noexcept override;
  Code stream_id(Stream stream, std::uint64_t& id) noexcept override;
  [[nodiscard]] bool is_idle(Stream stream) noexcept override;
  Code synchronize(Stream stream) noexcept override;

  Code create_event(Event& event) noexcept override;
  Code destroy_event(Event event) noexcept override;
  Code record(Event event, Stream stream) noexcept override;
  Code wait(Stream stream, Event event) noexcept override;
  Code query(Event event) noexcept override;
  Code synchronize_event(Event event) noexcept override;
  Code write_word(Stream stream, std::atomic<std::uint32_t>& word, std::uint32_t value) noexcept override;
  Code wait_word(Stream stream, const std::atomic<std::uint32_t>& word,
                 std::uint32_t value) noexcept override;

  Code copy(void* to, const void* from, std::size_t bytes, Stream stream) noexcept override;
  Code fill(void* to, std::uint8_t value, std::size_t bytes, Stream stream) noexcept override;

  Code export_memory(std::byte* base, MemoryHandle& handle) noexcept override;
  Code import_memory(const MemoryHandle& handle, std::byte*& base) noexcept override;
  Code close_memory(std::byte* base) noexcept override;

  Code add_kernels(std::span<const std::byte> image) noexcept override;
  Code launch(const Launch& what, Stream stream) noexcept override;

 private:
  using StreamPtr = std::shared_ptr<SimulatedStream>;
  struct Device {
    std::atomic<Code> failure{Code::ok};  // once it is another, for ever
    StreamPtr default_stream = std::make_shared<SimulatedStream>();
  };
  struct OwnedStream {
    int device;
    StreamPtr work;
  };
  struct OwnedEvent {
    int device;
    std::shared_ptr<SimulatedEvent> event;
  };
  struct Registration {
    std::uintptr_t begin;
    std::size_t bytes;
  };
  struct Place {  // where work is enqueued
    int device = -1;
    StreamPtr work;
  };

  // Counts the call; fails it if it is to fail, no device is entered, or the entered one is broken.
  Code begin(Call call, int& device);
  // The same for calls about a stream or an event, which must be the entered device's.
  Code begin(Call call, Stream stream, Place& place);
  Code begin(Call call, Event event, OwnedEvent& owned);
  Code find(Event event, OwnedEvent& owned) const;

  [[nodiscard]] Device& at(int device) const { return *devices_[static_cast<std::size_t>(device)]; }
  [[nodiscard]] Code failure_of(int device) const { return at(device).failure; }
  [[nodiscard]] StreamPtr stream_of(Stream stream, int device) const;
  [[nodiscard]] bool is_pageable(const void* address) const;
  // The registration that a word lies in; null: there is none.
  [[nodiscard]] std::shared_ptr<const Registration> registration_of(const void* word) const;
  // Does it in the stream's order, unless the device is broken by then; what it returns may break it.
  void enqueue(const Place& place, std::function<Code()> work);
  // Waits for all streams of a device, of all with -1.
  void drain(int device);

  const Options options_;
  Calls calls_;
  Memory memory_;
  std::vector<std::unique_ptr<Device>> devices_;
  std::atomic<std::uint64_t> waiting_copies_{0};
  std::atomic<std::uint64_t> staged_copies_{0};
  std::atomic<Stream> captured_{nullptr};
  mutable std::mutex mutex_;  // guards all below
  std::map<std::string, Kernel, std::less<>> kernels_;
  std::uintptr_t next_name_ = 16;  // of a stream or an event; never used again; the first ones are CUDA's
  std::map<Event, OwnedEvent> events_;
  // By whoever has registered it and by the streams that are to use its words.
  std::vector<std::shared_ptr<const Registration>> registrations_;
  std::map<Stream, OwnedStream> streams_;
  std::vector<OwnedStream> leaving_;  // destroyed, with work left
};

}  // namespace parley::cuda::testing
