#include "api/wireup/last_word.h"

#include <charconv>
#include <exception>
#include <string>

#include "transport/base/log.h"

namespace parley::wireup {
namespace {

constexpr auto patience = std::chrono::seconds(1);

std::string key_of(const World& world, int rank) {
  return world.last_word_prefix + std::to_string(rank);
}

}  // namespace

void leave_last_word(const World& world, std::optional<int> culprit) noexcept {
  if (!world.on_demand || world.store == nullptr) return;
  try {
    world.store->set_string(key_of(world, world.rank), culprit ? std::to_string(*culprit) : "in good order",
                            patience);
  } catch (const std::exception& error) {
    PARLEY_LOG(debug, "init", "no last word in the store: ", error.what());
  }
}

std::optional<LastWord> find_last_word(const World& world, int rank) noexcept {
  if (!world.on_demand || world.store == nullptr) return std::nullopt;
  try {
    const std::string key = key_of(world, rank);
    if (!world.store->check({&key, 1}, patience)) return std::nullopt;
    const std::string text = world.store->get_string(key, patience);
    int culprit = -1;
    std::from_chars(text.data(), text.data() + text.size(), culprit);
    if (culprit < 0 || culprit >= world.size) return LastWord{};
    return LastWord{culprit};
  } catch (const std::exception& error) {
    PARLEY_LOG(debug, "init", "no last word of rank ", rank, ": ", error.what());
    return std::nullopt;
  }
}

}  // namespace parley::wireup
