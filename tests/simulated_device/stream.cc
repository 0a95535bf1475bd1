#include "tests/simulated_device/stream.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace parley::cuda::testing {
namespace {

// How often a wait is looked at: soon at first, and rarely when it lasts, for tests have many processes and
// few cores.
constexpr std::chrono::microseconds first_pause{20};
constexpr std::chrono::microseconds longest_pause{1000};

}  // namespace

SimulatedStream::~SimulatedStream() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  changed_.notify_all();
  if (worker_.joinable()) worker_.join();
}

void SimulatedStream::enqueue(std::function<void()> work) {
  add({std::move(work), nullptr});
}

void SimulatedStream::enqueue_wait(std::function<bool()> reached) {
  add({nullptr, std::move(reached)});
}

void SimulatedStream::add(Step step) {
  {
    const std::lock_guard lock(mutex_);
    steps_.push_back(std::move(step));
    ++enqueued_;
    if (!worker_.joinable()) worker_ = std::thread([this] { run(); });
  }
  changed_.notify_all();
}

void SimulatedStream::hold() {
  std::unique_lock lock(mutex_);
  is_held_ = true;
  changed_.wait(lock, [&] { return !is_working_; });
}

void SimulatedStream::let_go() {
  {
    const std::lock_guard lock(mutex_);
    is_held_ = false;
  }
  changed_.notify_all();
}

void SimulatedStream::drain() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this, last = enqueued_] { return done_ >= last; });
}

std::size_t SimulatedStream::pending() const {
  const std::lock_guard lock(mutex_);
  return steps_.size();
}

void SimulatedStream::run() {
  std::chrono::microseconds pause = first_pause;
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return is_ending_ || (!is_held_ && !steps_.empty()); });
    if (is_ending_) return;
    const Step& step = steps_.front();  // add() leaves it where it is
    if (step.reached && !step.reached()) {
      changed_.wait_for(lock, pause, [&] { return is_ending_; });
      pause = std::min(2 * pause, longest_pause);
      continue;
    }
    pause = first_pause;
    if (step.work) {
      is_working_ = true;
      lock.unlock();
      step.work();
      lock.lock();
      is_working_ = false;
    }
    steps_.pop_front();
    ++done_;
    changed_.notify_all();
  }
}

}  // namespace parley::cuda::testing
