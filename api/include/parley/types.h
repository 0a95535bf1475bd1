#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace parley {

// Wildcards of a receive.
inline constexpr int any_source = -1;
inline constexpr std::int64_t any_tag = -1;

// For options: no limit.
inline constexpr std::chrono::nanoseconds no_timeout = std::chrono::nanoseconds::max();

// What arrived.
struct RecvStatus {
  int source = -1;        // rank in the group
  std::int64_t tag = -1;  // 0 or more
  std::size_t bytes = 0;  // bytes of the message, at most those of the buffer
};

// An operation without a timeout of its own lasts as long as the group's (PARLEY_TIMEOUT, 30 minutes at
// first).
struct SendOptions {
  std::int64_t tag = 0;  // 0 to 2^63 - 1
  std::optional<std::chrono::nanoseconds> timeout = std::nullopt;
  bool synchronous = false;  // complete only after the receive was matched
};

struct RecvOptions {
  std::int64_t tag = 0;  // or any_tag
  std::optional<std::chrono::nanoseconds> timeout = std::nullopt;
};

struct SendRecvOptions {
  std::int64_t send_tag = 0;
  std::int64_t recv_tag = 0;  // or any_tag
  std::optional<std::chrono::nanoseconds> timeout = std::nullopt;
};

// Who does a group's collectives and batches of memory on devices.
enum class DeviceBackend : unsigned char {
  automatic,  // NCCL where each rank has a device of its own and the same NCCL
  nccl,       // NCCL, or UsageError
  own,        // Parley's own schedules and copies
};

struct GroupOptions {
  std::string name = {};  // for people, in errors and logs; the same at all members
  // How long the members wait for each other. Not given: PARLEY_INIT_TIMEOUT, or what init() was given.
  std::optional<std::chrono::nanoseconds> timeout = std::nullopt;
  DeviceBackend device_backend = DeviceBackend::automatic;  // PARLEY_DEVICE_PATH wins, where it is set
  // Algorithms of its collectives, in the grammar of PARLEY_ALGO, which wins; the same at all members.
  std::string algorithms = {};
};

}  // namespace parley
