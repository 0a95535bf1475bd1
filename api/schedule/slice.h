#pragma once

#include <cstdint>

namespace parley::schedule {

// The places that a step may name.
enum class Space : std::uint8_t {
  input,    // the caller's; read only
  output,   // the caller's
  scratch,  // this rank's alone
  // What each rank of a host shows the others, of which it alone writes its own. There are several of each,
  // at least two, which turns use one after another:
  line,   // beside its mark, so that both are had with one look
  stage,  // more
};

// Which of a caller's buffers is meant where it is lent to others.
enum class Loan : std::uint8_t { none, input, output };

// Elements [begin, begin + count) of one place.
struct Slice {
  Space space = Space::input;
  std::uint64_t begin = 0;
  std::uint64_t count = 0;
  std::uint32_t owner = 0;  // line, stage: whose
  std::uint32_t turn = 0;   // line, stage: in which turn of the schedule
  // stage: a piece of this buffer of its owner's, from element `lent_begin` on. Where the owner has lent that
  // buffer the piece lies there, and a copy from there to here has nothing to do.
  // output: others read it here, if it is lent.
  Loan loan = Loan::none;
  std::uint64_t lent_begin = 0;

  // `count` elements of this slice from its element `offset` on. REQUIRES: they lie in it.
  [[nodiscard]] constexpr Slice part(std::uint64_t offset, std::uint64_t part_count) const noexcept {
    const std::uint64_t lent = loan == Loan::none ? 0 : lent_begin + offset;
    return {space, begin + offset, part_count, owner, turn, loan, lent};
  }
  // The same, which is a piece of its owner's buffer.
  [[nodiscard]] constexpr Slice of(Loan buffer, std::uint64_t from) const noexcept {
    return {space, begin, count, owner, turn, buffer, from};
  }
  [[nodiscard]] constexpr std::uint64_t end() const noexcept { return begin + count; }
  friend constexpr bool operator==(const Slice&, const Slice&) = default;
};

inline constexpr bool is_shared(Space space) noexcept {
  return space == Space::line || space == Space::stage;
}

}  // namespace parley::schedule
