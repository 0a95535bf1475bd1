#pragma once

#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "tests/unit/tensor/host_kernels.h"
#include "transport/cuda/api.h"

namespace parley::tests {

// A device that is the CPU: memory is the host's, launches run at once and are written down. Nothing else can
// be done with it. As on a device, a kernel is found once an image has been added.
class HostApi : public cuda::Api {
 public:
  using Code = cuda::Code;
  struct Launched {
    std::string name;
    std::uint32_t blocks;
    std::uint32_t threads;
    std::vector<std::byte> arguments;
    cuda::Stream stream;
  };
  std::vector<Launched> launches;
  int images = 0;
  bool runs = true;  // whether kernels do anything
  bool has_kernels = true;

  Code add_kernels(std::span<const std::byte>) noexcept override {
    const std::lock_guard lock(mutex_);
    ++images;
    has_kernels = true;
    return Code::ok;
  }
  Code launch(const cuda::Launch& what, cuda::Stream stream) noexcept override {
    const std::lock_guard lock(mutex_);
    const auto kernel = host_kernels().find(what.name);
    if (!has_kernels || kernel == host_kernels().end()) return Code::not_found;
    launches.push_back(
        {what.name, what.blocks, what.threads, {what.arguments.begin(), what.arguments.end()}, stream});
    if (runs)
      kernel->second(what.arguments, std::uint64_t{what.blocks} * what.threads,
                     [](const void* address) { return const_cast<void*>(address); });
    return Code::ok;
  }

  Code allocate(std::size_t bytes, std::byte*& memory) noexcept override {
    memory = static_cast<std::byte*>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
    return memory != nullptr ? Code::ok : Code::out_of_memory;
  }
  Code free(std::byte* memory) noexcept override {
    std::free(memory);
    return Code::ok;
  }
  Code copy(void* to, const void* from, std::size_t bytes, cuda::Stream) noexcept override {
    std::memcpy(to, from, bytes);
    return Code::ok;
  }
  [[nodiscard]] bool is_capturing(cuda::Stream) noexcept override { return false; }
  [[nodiscard]] bool is_idle(cuda::Stream) noexcept override { return true; }
  Code stream_id(cuda::Stream, std::uint64_t&) noexcept override { return Code::not_supported; }
  Code synchronize(cuda::Stream) noexcept override { return Code::ok; }
  Code enter_device(int, void*& previous) noexcept override {
    previous = nullptr;
    return Code::ok;
  }
  void leave_device(void*) noexcept override {}
  [[nodiscard]] int current_device() const noexcept override { return 0; }
  [[nodiscard]] int device_count() const noexcept override { return 1; }
  [[nodiscard]] std::string describe(Code code) const override {
    return "error " + std::to_string(static_cast<int>(code));
  }
  [[nodiscard]] std::string version() const override { return "the CPU"; }
  [[nodiscard]] std::string device_name(int) const override { return "the CPU"; }

  Code device_id(int, cuda::DeviceId&) noexcept override { return Code::not_supported; }
  Code reach_device(int) noexcept override { return Code::not_supported; }
  Code allocate_pinned(std::size_t, std::byte*&) noexcept override { return Code::not_supported; }
  Code free_pinned(std::byte*) noexcept override { return Code::not_supported; }
  Code facts_of(const void*, cuda::PointerFacts&) noexcept override { return Code::not_supported; }
  Code create_stream(cuda::Stream&) noexcept override { return Code::not_supported; }
  Code destroy_stream(cuda::Stream) noexcept override { return Code::not_supported; }
  Code create_event(cuda::Event&) noexcept override { return Code::not_supported; }
  Code destroy_event(cuda::Event) noexcept override { return Code::not_supported; }
  Code record(cuda::Event, cuda::Stream) noexcept override { return Code::not_supported; }
  Code wait(cuda::Stream, cuda::Event) noexcept override { return Code::not_supported; }
  Code query(cuda::Event) noexcept override { return Code::not_supported; }
  Code synchronize_event(cuda::Event) noexcept override { return Code::not_supported; }
  Code fill(void*, std::uint8_t, std::size_t, cuda::Stream) noexcept override { return Code::not_supported; }
  Code export_memory(std::byte*, cuda::MemoryHandle&) noexcept override { return Code::not_supported; }
  Code import_memory(const cuda::MemoryHandle&, std::byte*&) noexcept override { return Code::not_supported; }
  Code close_memory(std::byte*) noexcept override { return Code::not_supported; }
  Code register_host(void*, std::size_t) noexcept override { return Code::not_supported; }
  Code unregister_host(void*) noexcept override { return Code::not_supported; }
  Code write_word(cuda::Stream, std::atomic<std::uint32_t>&, std::uint32_t) noexcept override {
    return Code::not_supported;
  }
  Code wait_word(cuda::Stream, const std::atomic<std::uint32_t>&, std::uint32_t) noexcept override {
    return Code::not_supported;
  }

 private:
  std::mutex mutex_;
};

}  // namespace parley::tests
