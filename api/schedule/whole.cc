#include "api/schedule/whole.h"

namespace parley::schedule {

void take_whole(Builder& builder, std::span<const Taken> wanted) {
  // The stage stands for the input, which is lent.
  for (const Taken& one : wanted)
    builder.copy(builder.stage(one.owner, one.from.count).of(Loan::input, one.from.begin), one.to);
}

}  // namespace parley::schedule
