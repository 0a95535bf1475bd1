#pragma once

#include <cstdint>

namespace parley::schedule {

inline std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

// A symbolic element: an expression over contributions, kept as fingerprints of 64 bits. Two expressions with
// the same fingerprint are taken for the same.
struct Value {
  std::uint64_t bits = 0;   // the whole expression, brackets included: what floating point would round to
  std::uint64_t set = 0;    // which contributions, each how often, in any order
  std::uint64_t chain = 0;  // which contributions, in which order, without brackets
  std::uint64_t power = 1;  // of the chain: one factor for each contribution
  friend bool operator==(const Value&, const Value&) = default;
};

// Element `index` of what `rank` puts in.
inline Value contribution(std::uint32_t rank, std::uint64_t index) {
  const std::uint64_t seed = mix((std::uint64_t{rank} + 1) << 40 | (index + 1));
  return {seed, mix(seed + 1), mix(seed + 2), 0x9e3779b97f4a7c15ULL};
}

// What was never written.
inline Value garbage(std::uint64_t where) {
  const std::uint64_t seed = mix(~where);
  return {seed, mix(seed + 3), mix(seed + 4), mix(seed + 5) | 1};
}

// An operator that neither commutes nor associates, in `bits`; commutes and associates in `set`; associates
// in `chain`.
inline Value operator+(const Value& left, const Value& right) {
  return {mix(left.bits * 3 + mix(right.bits)), left.set + right.set, left.chain * right.power + right.chain,
          left.power * right.power};
}

}  // namespace parley::schedule
