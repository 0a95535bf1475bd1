#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <thread>

#include "transport/base/unique_fd.h"

namespace parley::socket::testing {

// Stands between a dialler and a listener of this host and passes everything on in single bytes, one write(2)
// each, perhaps changed. Has a thread of its own and serves any number of connections, one after the other or
// at once.
class ByteProxy {
 public:
  enum class Direction { to_listener, to_dialler };
  // Runs on the proxy's thread for each byte; `offset` counts from the beginning of its connection.
  using Change = std::function<std::byte(Direction, std::size_t offset, std::byte)>;

  explicit ByteProxy(std::uint16_t listener_port, Change change = {});
  ~ByteProxy();
  ByteProxy(const ByteProxy&) = delete;
  ByteProxy& operator=(const ByteProxy&) = delete;

  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] std::size_t bytes_passed() const { return bytes_passed_; }

 private:
  struct Pipe;
  void run();

  const std::uint16_t listener_port_;
  const Change change_;
  base::UniqueFd listening_;
  base::UniqueFd stop_;  // eventfd
  std::uint16_t port_ = 0;
  std::atomic<std::size_t> bytes_passed_{0};
  std::thread thread_;
};

}  // namespace parley::socket::testing
