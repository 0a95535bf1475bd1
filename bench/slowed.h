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

// Spins after each exchange, on the end that leads, until it has taken slowdown() times as long. Without a
// slowdown that is one branch, always the same, at each end of an exchange.
class HoldUp {
 public:
  explicit HoldUp(bool leads) : factor_(slowdown()), holds_(leads && factor_ > 1) {}

  void begin() {
    if (holds_) exchange_ = Stopwatch();
  }
  void stretch() const {
    if (!holds_) return;
    const double end_us = exchange_.elapsed_us() * factor_;
    while (exchange_.elapsed_us() < end_us) {
    }
  }

 private:
  double factor_;
  bool holds_;
  Stopwatch exchange_;
};

// A System of phase.h that is held up.
template <typename System>
class Slowed : public System {
 public:
  template <typename... Arguments>
  explicit Slowed(bool leads, Arguments&&... arguments)
      : System(std::forward<Arguments>(arguments)...), hold_up_(leads) {}

  // An exchange begins with one of these on the end that leads,
  void send() {
    hold_up_.begin();
    System::send();
  }
  void send_window() {
    hold_up_.begin();
    System::send_window();
  }
  // and ends with one of these.
  void recv() {
    System::recv();
    hold_up_.stretch();
  }
  void recv_ack() {
    System::recv_ack();
    hold_up_.stretch();
  }
  void exchange_windows() {
    hold_up_.begin();
    System::exchange_windows();
    hold_up_.stretch();
  }

 private:
  HoldUp hold_up_;
};

// A Collective of collective.h that is held up.
template <typename Collective>
class SlowedCollective : public Collective {
 public:
  template <typename... Arguments>
  explicit SlowedCollective(bool leads, Arguments&&... arguments)
      : Collective(std::forward<Arguments>(arguments)...), hold_up_(leads) {}

  void call(int root) {
    hold_up_.begin();
    Collective::call(root);
    hold_up_.stretch();
  }

 private:
  HoldUp hold_up_;
};

}  // namespace parley::bench
