#pragma once

#include <cstdint>
#include <optional>

#include "api/wireup/world.h"

namespace parley::wireup {

// Ranks that link on demand cannot say goodbye to those they never met. They leave a word in the store
// instead, and whoever finds nobody at a rank's address looks there.

struct LastWord {
  std::optional<int> culprit;  // whose death made it leave; nothing: it left in good order
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

}  // namespace parley::wireup
