#pragma once

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <string>

#include "transport/base/deadline.h"
#include "transport/socket/connection.h"
#include "transport/socket/handshake.h"

namespace parley::socket {

// One try at one address: connect and handshake.
// Thread-safety: everything on the reactor.
class DialAttempt : public std::enable_shared_from_this<DialAttempt> {
 public:
  struct Outcome {
    Connection connection{};  // set: connected and authenticated
    std::string reason;       // else why not, in words,
    int error = 0;            // and the errno behind it, if any
    bool final = false;       // trying again is useless: the handshake was refused by one of the two ends
    bool answered = true;     // false: not a sign came from the other side in time
    bool connected = false;   // unless its kernel took the connection
    bool unmet = false;       // nothing tells that the host exists: silence, or no route to it
  };
  using Done = std::function<void(Outcome)>;

  DialAttempt(asio::io_context& context, const asio::ip::tcp::endpoint& address, DiallerHandshake handshake);

  // Ends at `connect_limit` unless it is connected by then, and at `limit` in any case.
  // `done` runs once, perhaps before start() returns, unless close() comes first.
  void start(base::Deadline connect_limit, base::Deadline limit, Done done);
  void close() noexcept;

  // What this attempt waits for now, for the report when nobody waits for it any longer.
  [[nodiscard]] Outcome overdue() const;

 private:
  enum class Phase {
    connecting,         // SYN sent
    expects_challenge,  // HELLO sent
    expects_welcome,    // PROOF sent
    sets_up_tls,        // WELCOME received
  };

  void end_at(base::Deadline limit);
  void shake_hands();
  void read_challenge();
  void send_proof();
  void read_welcome();
  void begin_tls();
  void go_on_with_tls();
  void succeed();
  void lose(const asio::error_code& error);
  void end(Outcome outcome);

  asio::ip::tcp::endpoint address_;
  asio::ip::tcp::socket socket_;
  asio::steady_timer timer_;
  int limits_ = 0;  // how many were set so far
  DiallerHandshake handshake_;
  Phase phase_ = Phase::connecting;
  Done done_;  // empty once the attempt is over
  ChallengeBytes challenge_{};
  WelcomeBytes welcome_{};
  std::unique_ptr<SecureStream> tls_;
};

}  // namespace parley::socket
