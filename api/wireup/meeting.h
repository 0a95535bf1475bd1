#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "api/wireup/world.h"

namespace parley::wireup {

// What the members of a group-to-be meet about. They all must give the same `key` and `members`.
struct Agenda {
  std::string key;           // of this meeting and of no other
  std::string call;          // the call they are in, for people: "new_group({0, 2})"
  std::vector<int> members;  // ranks of the world, this one among them
  std::string contribution;  // what this rank has to say; one line
  std::chrono::nanoseconds timeout{};
  bool gives_up = false;  // the caller set this timeout for this call, to go on when it passes
};

// What everybody had to say, in the order of Agenda::members, and a number that no other meeting gets.
struct Minutes {
  std::vector<std::string> contributions;
  std::int64_t number = 0;
};

// Meets the other members in the store; returns when all of them have come. All part with the same result:
// the minutes, or the error of whoever first found that it cannot come about.
//
// Throws StoreLostError and other StoreErrors; PeerDiedError, PeerLeftError or LinkLostError naming the
// member that will not come; MismatchError when two members are in different calls and so would wait for each
// other for ever; TimeoutError naming those who have not come. Thread-safety: safe. Other meetings go on
// meanwhile.
Minutes meet(const World& world, const Agenda& agenda);

}  // namespace parley::wireup
