#pragma once

#include <parley/store.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "transport/base/deadline.h"

namespace parley::wireup {

struct World;

// Ranks that link on demand cannot say goodbye to those they never met. They leave a word in the store
// instead, and whoever finds nobody at a rank's address looks there.

struct LastWord {
  std::optional<int> culprit;  // whose death made it leave; nothing: it left in good order
};

// Where the ranks of a world leave them.
struct LastWords {
  std::string prefix;      // of the keys, before the rank
  std::string deaths_key;  // of the list of deaths
  int world_size = 0;
};

// Does nothing when the store is gone; lasts a few seconds at most.
void leave_last_word(const World& world, std::optional<int> culprit) noexcept;

// Who asks for a last word, and so how long it may take: a call that has failed waits for a second; a
// completion function, which holds up others, for 100 ms, and not at all once the store was silent for so
// long.
enum class Asker : std::uint8_t { call, completion_function };

// Finds nothing when the store is gone or does not answer in time. Thread-safety: safe, also while the world
// is left.
std::optional<LastWord> find_last_word(const World& world, int rank, Asker asker) noexcept;

// The same for a thread that has time. Nothing: the rank has left none. Throws StoreError.
std::optional<LastWord> read_last_word(Store& store, const LastWords& where, int rank,
                                       base::Deadline deadline);

// What others cannot know who were not linked to it: a rank has died, or has left because `culprit` did.
struct Death {
  int rank = 0;
  int culprit = 0;  // its own number, if it died
};

// There is a list of those, to which whoever can see that a process has died without a word adds it. Both
// throw StoreError.
std::vector<Death> read_deaths(Store& store, const LastWords& where, base::Deadline deadline);
void note_death(Store& store, const LastWords& where, Death death, base::Deadline deadline);

}  // namespace parley::wireup
