#pragma once

#include "bench/buffers.h"
#include "bench/gate.h"
#include "bench/op.h"

namespace parley::bench {

// Called by both ends of a pair between two exchanges, outside the measured time: whoever sends writes its
// buffer anew. That is safe, for an exchange ends on the leader when nobody reads its buffer any more, and
// the other end writes only after the leader has come.
inline void rewrite(Gate& gate, Buffers& buffers, Op op, bool leads) {
  gate.pass([&] {
    if (sends_messages(op, leads)) buffers.rewrite_out();
    if (receives_messages(op, leads)) buffers.expect_rewritten();
  });
}

}  // namespace parley::bench
