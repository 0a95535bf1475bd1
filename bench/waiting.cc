#include "bench/waiting.h"

#include <sched.h>

#include <stdexcept>
#include <thread>

namespace parley::bench {
namespace {

constexpr std::chrono::seconds patience{30};

}  // namespace

void Waiting::give_core_away() const noexcept {
  if (sleeps_) {
    std::this_thread::sleep_for(nap);
  } else {
    ::sched_yield();
  }
}

void Waiting::check(Stall& stall) const {
  link_.expect_open();
  const auto now = std::chrono::steady_clock::now();
  if (stall.polls == polls_per_check) stall.first_check = now;
  if (now - stall.first_check > patience) {
    throw std::runtime_error("shared memory: the partner is silent for 30 s");
  }
}

}  // namespace parley::bench
