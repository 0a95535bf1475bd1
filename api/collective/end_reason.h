#pragma once

#include <cstdint>
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

  // As the abort carries it; the users' own reasons stay as they are.
  [[nodiscard]] std::string encoded() const;
  // Of any text. Borrows it.
  static EndReason decode(std::string_view reason) noexcept;
};

}  // namespace parley::collective
