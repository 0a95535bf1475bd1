#pragma once

#include <cstdint>

namespace parley::schedule {

// Messages and elements one after another.
struct Path {
  std::uint64_t messages = 0;
  std::uint64_t elements = 0;
  // Messages of which each one waits for the one before, even if ports took any number at once. Where an
  // entry says 0 that is all of them.
  std::uint64_t hops = 0;
};

// What an algorithm promises; the model test holds it to that. A rank sends one message at a time and
// receives one at a time, both at once, each in the order of the schedule. Then no chain of messages that
// wait for each other is longer than `near` and `far` together, in messages or in elements.
struct Cost {
  Path near = {};  // between ranks of one host
  Path far = {};   // between hosts; all of it where an algorithm does not look at hosts
  // In memory that the ranks of a host share: marks of others that one rank awaits, of which as many `hops`
  // one after another, and elements that are copied into or out of it one after another; no rank copies more.
  Path shared = {};
  std::uint64_t sent = 0;     // elements that one rank sends, at most
  std::uint64_t reduced = 0;  // elements that one rank folds into others, at most
};

}  // namespace parley::schedule
