#include "tensor/reduce/cuda/walk.h"

#include <algorithm>

namespace parley::tensor::device {

Walk walk_over(std::size_t bytes, std::size_t number_bytes, const void* to,
               std::span<const void* const> operands) noexcept {
  const auto start = reinterpret_cast<std::uintptr_t>(to);
  std::uintptr_t distances = 0;  // bits in which any operand's address differs from the result's
  for (const void* operand : operands) distances |= reinterpret_cast<std::uintptr_t>(operand) ^ start;

  const std::size_t count = bytes / number_bytes;
  Walk walk = {.rest = count};
  walk.is_aligned = (distances | start) % std::min<std::size_t>(number_bytes, 8) == 0;
  const std::size_t head_bytes = -start % vector_bytes;
  if (distances % vector_bytes != 0 || head_bytes % number_bytes != 0 || head_bytes > bytes) return walk;
  walk.head = head_bytes / number_bytes;
  walk.vectors = (bytes - head_bytes) / vector_bytes;
  walk.rest = count - walk.vectors * (vector_bytes / number_bytes);
  return walk;
}

}  // namespace parley::tensor::device
