#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace parley::socket {

// What a connection is for. A listener serves one purpose and refuses the others.
enum class Purpose : std::uint8_t { store = 1, data = 2 };

// Number of a process within its job; the layers above give it a meaning.
using ProcessNumber = std::uint32_t;
inline constexpr ProcessNumber any_process = 0xffffffff;

// Which job a process belongs to; all zero where jobs are told apart by their secret alone.
using JobId = std::array<std::byte, 16>;

// What both ends prove to know. Copies wipe themselves on destruction.
struct Credentials {
  ~Credentials();

  std::string secret;
  JobId job{};
  bool authenticate = true;  // false: nothing is proved, and whoever proves something is refused
  bool encrypt = false;      // TLS after the handshake; refuses whoever says otherwise
};

// Who dials whom, told and proved in the handshake.
struct Identity {
  Purpose purpose = Purpose::data;
  ProcessNumber from = any_process;  // the process that dials
  ProcessNumber to = any_process;    // the process it wants to reach
};

}  // namespace parley::socket
