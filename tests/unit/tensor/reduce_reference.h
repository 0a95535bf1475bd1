#pragma once

#include <parley/dtype.h>
#include <parley/reduce_op.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

// What a reduction has to give, element by element and in plain C++.
namespace parley::tests {

using Bytes = std::vector<std::byte>;

// The left fold of the operands. Integers wrap; float adds in double and rounds each step, which is exact
// rounding; 16-bit types fold as float and are rounded once; NaNs are canonical. REQUIRES:
// reason_against(...) is empty, not custom
Bytes reference_fold(ReduceOp::Kind kind, DType dtype, std::span<const Bytes> operands);

// `count` elements, many of them special: zeros of both signs, infinities, NaNs with payloads, denormals, the
// largest, small integers. The same for the same seed.
Bytes some_elements(DType dtype, std::size_t count, std::uint64_t seed);

}  // namespace parley::tests
