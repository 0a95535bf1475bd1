#pragma once

#include <cstdint>
#include <new>
#include <string>
#include <string_view>

namespace parley::collective {

// Why the collectives of a group have ended, for all of its ranks: the reason of the abort of their context.
struct EndReason {
  enum class Kind : char {
    aborted = 'a',     // by a user
    mismatched = 'm',  // ranks have called different things
    died = 'd',        // the process that the abort names
    left = 'l',        // likewise, in good order
    timed_out = 't',   // on the rank that the abort names; text: the call, and whom it waited for
  };
  Kind kind = Kind::aborted;
  std::string_view text = {};  // for people

  // As the abort carries it; the users' own reasons stay as they are. Without memory for its text it has
  // none.
  [[nodiscard]] std::string encoded() const noexcept;
  // Of any text. Borrows it.
  static EndReason decode(std::string_view reason) noexcept;
};

// The text that `make()` returns, or a short one where there is no memory for it: what ends does not wait for
// words.
template <typename Make>
std::string words(const Make& make) noexcept try {
  return make();
} catch (const std::bad_alloc&) {
  return "out of memory";  // lies in the string itself
}

}  // namespace parley::collective
