#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace parley::cuda::testing {

// Work done in order, on a thread of its own, which starts with the first work.
// Thread-safety: all calls, but nothing is called while it dies. Work that was not begun then is dropped.
class SimulatedStream {
 public:
  SimulatedStream() = default;
  ~SimulatedStream();
  SimulatedStream(const SimulatedStream&) = delete;
  SimulatedStream& operator=(const SimulatedStream&) = delete;

  void enqueue(std::function<void()> work);
  // What comes after it begins when `reached` says so; it is asked again and again.
  void enqueue_wait(std::function<bool()> reached);

  // From when this returns until let_go() no work begins, and none is under way.
  void hold();
  void let_go();
  // Blocks until all that is enqueued now has been done.
  void drain();
  [[nodiscard]] std::size_t pending() const;

 private:
  // One of the two is set.
  struct Step {
    std::function<void()> work;
    std::function<bool()> reached;
  };
  void add(Step step);
  void run();

  mutable std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  std::deque<Step> steps_;  // the first stays in until it is done
  std::uint64_t enqueued_ = 0;
  std::uint64_t done_ = 0;
  bool is_held_ = false;
  bool is_working_ = false;
  bool is_ending_ = false;
  std::thread worker_;
};

}  // namespace parley::cuda::testing
