#pragma once

#include <parley/store.h>

#include <cstddef>

namespace parley::rendezvous {

// All bounds of a store. Beyond one of them an operation fails and nothing is changed; each is checked before
// memory is allocated for the operation.
struct TableLimits : StoreLimits {
  std::size_t operation_bytes = std::size_t{16}
                                << 20;               // keys and values of one request, or values of one reply
  std::size_t total_bytes = std::size_t{256} << 20;  // all keys and values
  std::size_t keys = std::size_t{1} << 20;
  std::size_t waits = std::size_t{1} << 16;          // operations that wait for keys
  std::size_t wait_bytes = std::size_t{256} << 20;   // their keys
  std::size_t output_bytes = std::size_t{64} << 20;  // replies queued for a client that does not read them
};

inline constexpr StoreLimits largest_limits{4096, std::size_t{64} << 20};

// All bounds of a store whose user asks for `limits`: an operation may carry two values of the largest size.
// Throws parley::UsageError when they are out of range.
TableLimits table_limits(const StoreLimits& limits);

}  // namespace parley::rendezvous
