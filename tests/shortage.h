#pragma once

namespace parley::testing {

inline constexpr int endless = 1 << 30;

// Of memory, on one thread. Linking shortage.cc replaces operator new by one that does what this says.
struct Shortage {
  int after = 0;     // so many of the next allocations are still made;
  int refusals = 0;  // so many of those that follow are not, and then all are again

  // Of the calling thread.
  static void begin(const Shortage& shortage) noexcept;
  // The rest of it, which is then over.
  static Shortage end() noexcept;
};

}  // namespace parley::testing
