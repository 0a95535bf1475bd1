#include "transport/cuda_ipc/semaphores.h"

#include <chrono>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "transport/base/log.h"
#include "transport/base/spin.h"
#include "transport/cuda_ipc/registered_pages.h"

namespace parley::transport::cuda_ipc {

using cuda::Code;

namespace {

// A stream that is told to wait goes on several us later than a host that looks (README.md).
constexpr std::chrono::microseconds brief{8};
constexpr int looks_left_out_after_one_in_vain = 32;

}  // namespace

Semaphores::~Semaphores() {
  if (state_ != State::open) return;
  unregister_page(*api_, page());
}

void* Semaphores::page() const noexcept {
  return memory_.get() - reinterpret_cast<std::uintptr_t>(memory_.get()) % page_bytes;
}

bool Semaphores::open(int device) noexcept {
  if (state_ != State::unknown) return state_ == State::open;
  api_ = port_.api();
  const Code code = register_page(*api_, page(), device);
  state_ = code == Code::ok ? State::open : State::refused;
  if (code == Code::ok) return true;
  PARLEY_LOG(info, "cuda", "streams cannot share words with those of other processes: ", api_->describe(code),
             "; device memory goes by way of the host");
  return false;
}

void Semaphores::promise(std::size_t number) noexcept {
  Words& words = at(number);
  // relaxed: only this end counts it; a packet, or what takes an offer (a swap, a mutex), orders it before
  // what the peer does.
  words.told.store(words.told.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

Code Semaphores::keep_promise(cuda::Stream stream, std::size_t number) noexcept {
  Words& words = at(number);
  return api_->write_word(stream, words.reached, words.told.load(std::memory_order_relaxed));  // as promise()
}

void Semaphores::take_back(std::size_t number) noexcept {
  Words& words = at(number);
  words.told.store(words.told.load(std::memory_order_relaxed) - 1,
                   std::memory_order_relaxed);  // as promise()
}

void Semaphores::give(Words& words) noexcept {
  // relaxed: as promise(). release, as the device's own stores: what a stream has done comes before.
  words.reached.store(words.told.load(std::memory_order_relaxed), std::memory_order_release);
}

void Semaphores::give(std::size_t number) noexcept {
  give(at(number));
}

Code Semaphores::signal(cuda::Stream stream, std::size_t number) noexcept {
  promise(number);
  const Code code = keep_promise(stream, number);
  if (code != Code::ok) take_back(number);
  return code;
}

Code Semaphores::signal_early(cuda::Stream stream, std::size_t number) noexcept {
  if (!api_->is_idle(stream)) return signal(stream, number);
  promise(number);
  give(number);
  return Code::ok;
}

bool Semaphores::is_reached(std::size_t number) const noexcept {
  if (is_released_) return true;
  const Words& words = at(number);
  const std::uint32_t told = words.told.load(std::memory_order_relaxed);  // as promise()
  // acquire: what is told to a stream from now on comes after what the device has done before it wrote this.
  const std::uint32_t reached = words.reached.load(std::memory_order_acquire);
  return static_cast<std::int32_t>(reached - told) >= 0;
}

Code Semaphores::await(cuda::Stream stream, std::size_t number) noexcept {
  if (is_reached(number)) return Code::ok;
  const Words& words = at(number);
  return api_->wait_word(stream, words.reached,
                         words.told.load(std::memory_order_relaxed));  // as promise()
}

bool Semaphores::look_briefly(std::size_t number) noexcept {
  if (looks_left_out_ > 0) return --looks_left_out_, is_reached(number);
  const auto end = std::chrono::steady_clock::now() + brief;
  do {
    for (int i = 0; i < 16; ++i) {
      if (is_reached(number)) return true;
      base::cpu_relax();
    }
  } while (std::chrono::steady_clock::now() < end);
  looks_left_out_ = looks_left_out_after_one_in_vain;
  return false;
}

void Semaphores::release_all() noexcept {
  is_released_ = true;
  release(*memory_);
}

void Semaphores::release(std::byte& memory) noexcept {
  Words* const words = reinterpret_cast<Words*>(&memory);
  // What is promised meanwhile is found the next time.
  for (std::size_t number = 0; number < count; ++number) give(words[number]);
}

void Semaphores::leave(std::shared_ptr<Semaphores> used) noexcept try {
  // Of all ports of the process, each of which has a lock of its own.
  static std::mutex mutex;
  static auto& left = *new std::vector<std::shared_ptr<Semaphores>>();
  const std::lock_guard lock(mutex);
  left.push_back(std::move(used));
} catch (const std::bad_alloc&) {
  (void)new (std::nothrow) std::shared_ptr<Semaphores>(std::move(used));
}

}  // namespace parley::transport::cuda_ipc
