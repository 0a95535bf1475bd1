#pragma once

#include <cstdlib>
#include <string>
#include <utility>

#include "bench/options.h"
#include "bench/stopwatch.h"

namespace parley::bench {

// How much longer the library's exchanges shall take than they do: PARLEY_BENCH_SLOW, from 1 to 100; 1 when
// it is not set. There is one reason to set it: tests of `compare --compare`, which must notice. Throws
// CommandLineError.
inline double slowdown() {
  const char* const word = std::getenv("PARLEY_BENCH_SLOW");
  if (word == nullptr) return 1;
  char* rest = nullptr;
  const double factor = std::strtod(word, &rest);
  if (rest != word && *rest == '\0' && factor >= 1 && factor <= 100) return factor;
  throw CommandLineError(std::string("PARLEY_BENCH_SLOW=") + word + ": write a number from 1 to 100");
}

// A System of phase.h that slowdown() holds up: the end that leads spins after each exchange until it has
// taken so many times as long. Without a slowdown that is one branch, always the same, at each end of an
// exchange.
template <typename System>
class Slowed : public System {
 public:
  template <typename... Arguments>
  explicit Slowed(bool leads, Arguments&&... arguments)
      : System(std::forward<Arguments>(arguments)...), factor_(slowdown()), holds_(leads && factor_ > 1) {}

  // An exchange begins with one of these on the end that leads,
  void send() {
    begin();
    System::send();
  }
  void send_window() {
    begin();
    System::send_window();
  }
  // and ends with one of these.
  void recv() {
    System::recv();
    stretch();
  }
  void recv_ack() {
    System::recv_ack();
    stretch();
  }
  void exchange_windows() {
    begin();
    System::exchange_windows();
    stretch();
  }

 private:
  void begin() {
    if (holds_) exchange_ = Stopwatch();
  }
  void stretch() const {
    if (!holds_) return;
    const double end_us = exchange_.elapsed_us() * factor_;
    while (exchange_.elapsed_us() < end_us) {
    }
  }

  double factor_;
  bool holds_;
  Stopwatch exchange_;
};

}  // namespace parley::bench
