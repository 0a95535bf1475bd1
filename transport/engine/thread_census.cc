#include "transport/engine/thread_census.h"

#include <vector>

namespace parley::transport {
namespace {

// The censuses a thread is counted in; leaves them when the thread ends.
struct Seats {
  struct Seat {
    std::uint64_t serial;
    std::shared_ptr<std::atomic<std::size_t>> count;
  };
  std::vector<Seat> seats;
  ~Seats() {
    for (auto& seat : seats) seat.count->fetch_sub(1, std::memory_order_relaxed);
  }
};

std::atomic<std::uint64_t> next_serial{1};

}  // namespace

thread_local std::uint64_t ThreadCensus::last_serial = 0;

ThreadCensus::ThreadCensus()
    : serial_(next_serial.fetch_add(1, std::memory_order_relaxed)),
      count_(std::make_shared<std::atomic<std::size_t>>(0)) {}

void ThreadCensus::register_thread() {
  thread_local Seats seats;
  last_serial = serial_;
  std::erase_if(seats.seats, [](const auto& seat) { return seat.count.use_count() == 1; });  // census is gone
  for (const auto& seat : seats.seats)
    if (seat.serial == serial_) return;
  seats.seats.push_back({serial_, count_});
  count_->fetch_add(1, std::memory_order_relaxed);
}

}  // namespace parley::transport
