#pragma once

#include <cstddef>
#include <span>

#include "api/nccl/library.h"

namespace parley::nccl::testing {

[[nodiscard]] std::size_t size_of(Type type) noexcept;

// to[i] := the elements of all operands, folded in their order; the average is divided by their number.
void fold(std::byte* to, std::span<const std::byte* const> operands, std::size_t count, Type type, Fold how);

// elements[i] *= *factor
void scale(std::byte* elements, const std::byte* factor, std::size_t count, Type type);

}  // namespace parley::nccl::testing
