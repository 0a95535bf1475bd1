#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "transport/base/unique_fd.h"

namespace parley::bench {

// What a loop does when a non-blocking call has nothing for it.
enum class Idle {
  spin,   // asks again at once: each rank has a core to itself
  yield,  // gives the core away first: the partner may need this one
  look,   // gives it away after about a microsecond: the partner may run on another one
  sleep,  // sleeps: what no limit may do, for tests of the floor (spinless.h)
};

// Of Idle::sleep: a window of 64 small messages takes more than any loop that polls.
inline constexpr std::chrono::microseconds nap{200};

// A TCP connection over loopback that nothing paces, and nothing else: non-blocking calls, repeated until all
// is done. The limit that the library is compared with. Either end: one thread at a time. Errors:
// std::runtime_error when the partner has closed or nothing moved for 30 s, std::system_error from the
// kernel.
class RawLink {
 public:
  // REQUIRES: `connection` is a connected TCP socket.
  RawLink(base::UniqueFd connection, Idle idle);
  void set_idle(Idle idle) noexcept { idle_ = idle; }

  // Returns when the kernel has taken all of it.
  void send(const std::uint8_t* data, std::size_t bytes);
  // Returns when all of it has arrived.
  void receive(std::uint8_t* data, std::size_t bytes);
  // `bytes` each way at once, turn by turn one call for each direction, so that neither end waits for the
  // other to read. Both buffers have `piece` bytes and are used again and again.
  void exchange(const std::uint8_t* out, std::uint8_t* in, std::size_t piece, std::size_t bytes);
  // Throws when the partner has closed the connection or died; receives nothing.
  void expect_open() const;

 private:
  // One stretch of calls that moved nothing.
  struct Stall {
    std::uint64_t polls = 0;
    std::chrono::steady_clock::time_point first_check = {};
  };
  // One call: what it moved, nothing when the kernel had nothing to give or no room.
  std::size_t try_send(const std::uint8_t* data, std::size_t bytes);
  std::size_t try_receive(std::uint8_t* data, std::size_t bytes);
  // Called after a call that moved nothing.
  void pause(const char* call, Stall& stall) const;

  base::UniqueFd connection_;
  Idle idle_;
};

// Waits for one partner on 127.0.0.1.
class RawListener {
 public:
  RawListener();
  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  // Throws std::runtime_error when nobody has come within 30 s.
  [[nodiscard]] base::UniqueFd accept() const;

 private:
  base::UniqueFd socket_;
  std::uint16_t port_ = 0;
};

// Connects to a RawListener of this host. Throws std::system_error.
[[nodiscard]] base::UniqueFd connect_raw(std::uint16_t port);

}  // namespace parley::bench
