#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#if defined(__CUDACC__)
#define PARLEY_DEVICE __host__ __device__
#else
#define PARLEY_DEVICE  // the tests run every thread of a kernel, one after the other
#endif

// How the threads of a kernel share arrays, and how they touch memory.
namespace parley::tensor::device {

inline constexpr std::size_t vector_bytes = 16;  // the widest access of a thread

// Where numbers lie in arrays of one length: some before the first whole vector, vectors, and some behind
// them. Vectors are aligned in every array, or there are none.
struct Walk {
  std::uint64_t head = 0;  // numbers before the first vector
  std::uint64_t vectors = 0;
  std::uint64_t rest = 0;        // numbers in no vector: the head and the tail
  std::uint64_t is_aligned = 1;  // whether every number lies at a multiple of its size, or of 8 bytes
};

// REQUIRES: `bytes` are whole numbers, of a size that is a power of 2 up to 16
[[nodiscard]] Walk walk_over(std::size_t bytes, std::size_t number_bytes, const void* to,
                             std::span<const void* const> operands) noexcept;

// One of the threads that a kernel runs as.
struct Thread {
  std::uint64_t index;
  std::uint64_t count;
};

// Calls at_vector(offset in bytes) for the thread's share of the vectors, at_number(offset, is_aligned) for
// that of the rest. `is_aligned` is a constant of its type: within one loop a compiler would make both
// accesses the worse one.
template <std::size_t number_bytes, typename AtVector, typename AtNumber>
PARLEY_DEVICE void take_share(const Walk& walk, Thread thread, const AtVector& at_vector,
                              const AtNumber& at_number) noexcept {
  const std::uint64_t head_bytes = walk.head * number_bytes;
  for (std::uint64_t i = thread.index; i < walk.vectors; i += thread.count)
    at_vector(head_bytes + i * vector_bytes);
  const auto at_rest = [&](auto is_aligned) {
    for (std::uint64_t i = thread.index; i < walk.rest; i += thread.count)
      at_number(i * number_bytes + (i < walk.head ? 0 : walk.vectors * vector_bytes), is_aligned);
  };
  if (walk.is_aligned != 0) {
    at_rest(std::true_type{});
  } else {
    at_rest(std::false_type{});
  }
}

// A vector's numbers, in registers.
template <typename T>
struct Pack {
  static constexpr unsigned count = vector_bytes / sizeof(T);
  T at[count];
};

struct alignas(vector_bytes) Words {
  std::uint32_t x, y, z, w;
};
// In between are Words, so that it is one access whatever T is.
template <typename T>
PARLEY_DEVICE Pack<T> load_vector(const std::byte* from) noexcept {
  Words words;
  std::memcpy(&words, __builtin_assume_aligned(from, vector_bytes), vector_bytes);
  Pack<T> pack;
  std::memcpy(&pack, &words, vector_bytes);
  return pack;
}
template <typename T>
PARLEY_DEVICE void store_vector(std::byte* to, const Pack<T>& pack) noexcept {
  Words words;
  std::memcpy(&words, &pack, vector_bytes);
  std::memcpy(__builtin_assume_aligned(to, vector_bytes), &words, vector_bytes);
}

// Byte by byte where it is not aligned: a device has no other access for that.
template <typename T, bool is_aligned>
inline constexpr std::size_t alignment_of = !is_aligned     ? 1
                                            : sizeof(T) < 8 ? sizeof(T)
                                                            : 8;

template <typename T, bool is_aligned>
PARLEY_DEVICE T load_number(const std::byte* from, std::bool_constant<is_aligned>) noexcept {
  T number;
  std::memcpy(&number, __builtin_assume_aligned(from, alignment_of<T, is_aligned>), sizeof(T));
  return number;
}
template <bool is_aligned, typename T>
PARLEY_DEVICE void store_number(std::byte* to, const T& number, std::bool_constant<is_aligned>) noexcept {
  std::memcpy(__builtin_assume_aligned(to, alignment_of<T, is_aligned>), &number, sizeof(T));
}

}  // namespace parley::tensor::device
