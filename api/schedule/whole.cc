#include "api/schedule/whole.h"

namespace parley::schedule {

void take_whole(Builder& builder, std::uint32_t me, std::span<const Taken> wanted) {
  builder.begin_turn(0);
  for (const Taken& one : wanted) {
    // Of another one's the stage stands for the input, which is lent.
    const Slice lent = builder.stage(one.owner, one.from.count).of(Loan::input, one.from.begin);
    builder.copy(one.owner == me ? one.from : lent, one.to);
  }
}

}  // namespace parley::schedule
