#pragma once

#include <cstdint>

namespace parley::detail {

// Tags in a group's context of collectives: a barrier's are the distances of its rounds, below 2^31; above,
// each object collective has its number.
inline constexpr std::int64_t first_object_tag = std::int64_t{1} << 32;
constexpr bool is_barrier_tag(std::int64_t tag) noexcept {
  return tag < first_object_tag;
}
constexpr std::int64_t object_tag(std::uint64_t call) noexcept {
  return first_object_tag + static_cast<std::int64_t>(call);
}

}  // namespace parley::detail
