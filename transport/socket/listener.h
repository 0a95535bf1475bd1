#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "transport/socket/connection.h"
#include "transport/socket/identity.h"
#include "transport/socket/reactor.h"

namespace parley::socket {

struct ListenerOptions {
  std::string host = "127.0.0.1";  // numeric address or name; the listener binds to it and to nothing else
  std::uint16_t port = 0;          // 0: any free port
  Purpose purpose = Purpose::data;
  ProcessNumber self = any_process;  // a dialler that wants to reach another number is refused
  std::chrono::milliseconds handshake_timeout{5000};  // of each connection; tests shorten it
};

// Accepts connections and hands over those that have proved to belong to the job.
// Until its proof a stranger costs one descriptor, 104 bytes read and 5 s at most; 64 strangers may wait at a
// time, the oldest goes first. Thread-safety: construct and destroy while nobody polls or sleeps on the
// reactor, which lives longer.
class Listener {
 public:
  // Runs on the reactor, once per authenticated connection. Must not throw, nor destroy the listener.
  using Handler = std::function<void(Connection connection, const Identity& identity)>;

  // Resolves a name before it returns. Throws parley::SystemError naming address, port and reason; also for a
  // wildcard address without authentication, which is warned about once on any other.
  Listener(Reactor& reactor, const ListenerOptions& options, Credentials credentials, Handler handler);
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  // The address bound, numeric: "127.0.0.1" or "::1".
  [[nodiscard]] std::string host() const;
  [[nodiscard]] std::uint16_t port() const;

  // Refuses new connections from now on, and drops those that are in the handshake. Safe from any thread.
  void stop();

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace parley::socket
