#include "tools/sim/crew.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>
#include <vector>

namespace parley::sim {
namespace {

constexpr unsigned most_threads = 2;

}  // namespace

void for_each_of(std::size_t count, const std::function<void(std::size_t)>& work) {
  std::vector<std::exception_ptr> failures(count);
  std::atomic<std::size_t> left = count;
  const auto work_on = [&] {
    // Relaxed: a number is all that is handed out; results are seen by who joins.
    for (std::size_t i = left.load(std::memory_order_relaxed); i > 0;) {
      if (!left.compare_exchange_weak(i, i - 1, std::memory_order_relaxed)) continue;
      try {
        work(i - 1);
      } catch (...) {
        failures[i - 1] = std::current_exception();
      }
      i = left.load(std::memory_order_relaxed);
    }
  };
  {
    std::vector<std::jthread> crew;
    for (unsigned other = 1; other < std::min(most_threads, std::thread::hardware_concurrency()); ++other)
      crew.emplace_back(work_on);
    work_on();
  }
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

}  // namespace parley::sim
