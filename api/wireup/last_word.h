#pragma once

#include <optional>

#include "api/wireup/world.h"

namespace parley::wireup {

// Ranks that link on demand cannot say goodbye to those they never met. They leave a word in the store
// instead, and whoever finds nobody at a rank's address looks there.

struct LastWord {
  std::optional<int> culprit;  // whose death made it leave; nothing: it left in good order
};

// Both do nothing, respectively find nothing, when the store is gone; they last a second at most.
void leave_last_word(const World& world, std::optional<int> culprit) noexcept;
std::optional<LastWord> find_last_word(const World& world, int rank) noexcept;

}  // namespace parley::wireup
