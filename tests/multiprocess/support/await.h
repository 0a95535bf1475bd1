#pragma once

#include <chrono>
#include <string>
#include <thread>

#include "tests/multiprocess/support/ranks.h"

namespace parley::testing {

// Looks until `holds()`, without a call to Parley; throws when that takes unreasonably long. For what another
// process says through a SharedPage.
template <typename Condition>
void await(const Condition& holds, const std::string& what,
           std::chrono::seconds patience = std::chrono::seconds(30)) {
  const auto end = std::chrono::steady_clock::now() + patience * slowness();
  while (!holds()) {
    expect(std::chrono::steady_clock::now() < end, "waited in vain: " + what);
    std::this_thread::yield();
  }
}

// CLOCK_MONOTONIC, which all processes of a host share.
inline std::chrono::nanoseconds now() {
  return std::chrono::steady_clock::now().time_since_epoch();
}

inline double in_ms(std::chrono::nanoseconds time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

}  // namespace parley::testing
