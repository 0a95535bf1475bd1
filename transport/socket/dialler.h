#pragma once

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/steady_timer.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "transport/base/deadline.h"
#include "transport/socket/dial.h"
#include "transport/socket/dial_attempt.h"
#include "transport/socket/dial_report.h"

namespace parley::socket {

// What dial() starts: rounds of attempts over all addresses of the name, until one succeeds, one is refused,
// or the deadline passes. Operations under way share ownership; the last to end frees it.
// Thread-safety: everything but the constructor on the reactor.
class Dialler : public std::enable_shared_from_this<Dialler> {
 public:
  Dialler(asio::io_context& context, const DialTarget& target, const Identity& identity,
          std::shared_ptr<const JobKey> key, base::Deadline deadline, DialHandler handler);
  void start();

 private:
  // An address and what became of the last attempt at it.
  struct Candidate {
    asio::ip::tcp::endpoint address;
    DialAttempt::Outcome last;
    int attempts = 0;
  };

  void resolve();
  void resolved(const asio::ip::tcp::resolver::results_type& found);
  void start_round();
  void try_address();
  void tried(DialAttempt::Outcome outcome);
  void end_round();
  void retry_later();
  void expire();

  void finish(base::Result<Connection> result);
  [[nodiscard]] base::Failure refusal() const;
  [[nodiscard]] base::Failure expiry() const;
  // The target, and why each of its addresses failed.
  [[nodiscard]] std::string reasons() const;
  [[nodiscard]] std::vector<AddressReport> addresses() const;

  asio::io_context& context_;
  const DialTarget target_;
  const Identity identity_;
  const std::shared_ptr<const JobKey> key_;
  const base::Deadline deadline_;
  const base::Clock::time_point begun_ = base::Clock::now();
  DialHandler handler_;  // empty once the dial is over

  asio::ip::tcp::resolver resolver_;
  asio::steady_timer deadline_timer_, retry_timer_;
  bool is_name_ = false;
  std::string resolve_error_;
  base::Clock::time_point resolved_at_{};
  std::vector<Candidate> candidates_;
  std::size_t current_ = 0;  // the candidate being tried
  bool met_ = false;         // some try has shown that a host is there, or could not be made for want of ours
  // Its own operations own the attempt, and it owns us by its callback: owning it here would be a cycle.
  std::weak_ptr<DialAttempt> attempt_;
  base::Clock::time_point attempt_begun_{};
  std::chrono::milliseconds backoff_;
};

}  // namespace parley::socket
