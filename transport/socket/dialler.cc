#include "transport/socket/dialler.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "transport/base/log.h"
#include "transport/socket/dial_report.h"
#include "transport/socket/random.h"
#include "transport/socket/tcp_socket.h"

namespace parley::socket {
namespace {

using asio::ip::tcp;
using std::chrono::milliseconds;

constexpr milliseconds first_backoff{20};
constexpr milliseconds longest_backoff{250};
// Each try sends its own SYN. Within one the kernel waits 1, 3, 7, 15, 31 s between two of them, and a
// network that is mended meanwhile would go unnoticed for as long.
constexpr milliseconds connect_limit{2000};
// Of a name with several addresses, one that connects and does not answer must not keep us from the others.
constexpr milliseconds attempt_limit{3000};
// A name is asked for again, since addresses of containers change, but no name server is flooded.
constexpr milliseconds resolve_interval{1000};
constexpr milliseconds long_silence{1000};

DialAttempt::Outcome not_tried() {
  return {.reason = "the deadline passed before it was tried", .answered = false};
}

std::string seconds_text(base::Clock::duration duration) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f s", std::chrono::duration<double>(duration).count());
  return text.data();
}

}  // namespace

Dialler::Dialler(asio::io_context& context, const DialTarget& target, const Identity& identity,
                 std::shared_ptr<const JobKey> key, base::Deadline deadline, DialHandler handler)
    : context_(context),
      target_(target),
      identity_(identity),
      key_(std::move(key)),
      deadline_(deadline),
      handler_(std::move(handler)),
      resolver_(context),
      deadline_timer_(context),
      retry_timer_(context),
      backoff_(first_backoff) {}

void Dialler::start() {
  if (!deadline_.is_never()) {
    deadline_timer_.expires_at(deadline_.when());
    deadline_timer_.async_wait([self = shared_from_this()](const asio::error_code& cancelled) {
      if (!cancelled) self->expire();
    });
  }
  asio::error_code no_number;
  const auto address = asio::ip::make_address(target_.host, no_number);
  is_name_ = static_cast<bool>(no_number);
  if (is_name_) return resolve();
  candidates_.push_back({tcp::endpoint(address, target_.port), not_tried()});
  start_round();
}

void Dialler::resolve() {
  resolved_at_ = base::Clock::now();
  resolver_.async_resolve(target_.host, std::to_string(target_.port), tcp::resolver::numeric_service,
                          [self = shared_from_this()](const asio::error_code& error, const auto& found) {
                            if (!self->handler_) return;
                            if (!error) return self->resolved(found);
                            self->resolve_error_ = error.message();
                            self->retry_later();
                          });
}

void Dialler::resolved(const tcp::resolver::results_type& found) {
  std::vector<Candidate> fresh;
  for (const auto& entry : found) {
    const auto known = std::find_if(candidates_.begin(), candidates_.end(),
                                    [&](const Candidate& c) { return c.address == entry.endpoint(); });
    const bool is_known = known != candidates_.end();
    fresh.push_back(
        {entry.endpoint(), is_known ? std::move(known->last) : not_tried(), is_known ? known->attempts : 0});
  }
  candidates_ = std::move(fresh);
  resolve_error_.clear();
  start_round();
}

void Dialler::start_round() {
  current_ = 0;
  try_address();
}

void Dialler::try_address() {
  if (current_ == candidates_.size()) return end_round();
  Nonce nonce;
  if (!fill_random(nonce))
    return finish(base::Failure{base::Code::io_error, "the system gives no random bytes"});
  const auto limit = candidates_.size() > 1 ? base::Deadline::after(attempt_limit) : base::Deadline::never();
  const auto attempt = std::make_shared<DialAttempt>(context_, candidates_[current_].address,
                                                     DiallerHandshake(identity_, key_, nonce));
  attempt_ = attempt;
  attempt_begun_ = base::Clock::now();
  ++candidates_[current_].attempts;
  attempt->start(
      base::Deadline::after(connect_limit), limit,
      [self = shared_from_this()](DialAttempt::Outcome outcome) { self->tried(std::move(outcome)); });
}

void Dialler::tried(DialAttempt::Outcome outcome) {
  attempt_.reset();
  if (outcome.connection) return finish(std::move(outcome.connection));
  met_ = met_ || !outcome.unmet;
  candidates_[current_].last = std::move(outcome);
  ++current_;
  try_address();
}

void Dialler::end_round() {
  // One refusal ends the dial even when other addresses failed in ways that may pass: "localhost" often has
  // an address that nobody will ever listen on.
  const bool refused =
      std::any_of(candidates_.begin(), candidates_.end(), [](const Candidate& c) { return c.last.final; });
  if (refused) return finish(refusal());
  const bool is_gone = target_.is_published && !candidates_.empty() &&
                       std::all_of(candidates_.begin(), candidates_.end(),
                                   [](const Candidate& c) { return c.last.error == ECONNREFUSED; });
  if (is_gone) return finish(expiry());
  retry_later();
}

void Dialler::retry_later() {
  retry_timer_.expires_after(backoff_);
  backoff_ = std::min(backoff_ * 2, longest_backoff);
  retry_timer_.async_wait([self = shared_from_this()](const asio::error_code& cancelled) {
    if (cancelled || !self->handler_) return;
    const bool ask_again = self->is_name_ && base::Clock::now() - self->resolved_at_ >= resolve_interval;
    if (ask_again || self->candidates_.empty())
      self->resolve();
    else
      self->start_round();
  });
}

void Dialler::expire() {
  if (const auto attempt = attempt_.lock()) {
    auto& last = candidates_[current_].last;
    // An attempt that has just begun says less than the outcome of the one before.
    auto overdue = attempt->overdue();
    met_ = met_ || overdue.connected;
    const bool says_more = !last.answered || base::Clock::now() - attempt_begun_ >= long_silence;
    if (says_more) last = std::move(overdue);
  }
  finish(expiry());
}

void Dialler::finish(base::Result<Connection> result) {
  if (!handler_) return;
  const DialHandler handler = std::exchange(handler_, nullptr);
  if (const auto attempt = attempt_.lock()) attempt->close();
  attempt_.reset();
  resolver_.cancel();
  deadline_timer_.cancel();
  retry_timer_.cancel();
  handler(std::move(result));
}

base::Failure Dialler::refusal() const {
  return {base::Code::refused, base::concat("the handshake failed with ", reasons())};
}

base::Failure Dialler::expiry() const {
  const bool silent = resolve_error_.empty() &&
                      std::any_of(candidates_.begin(), candidates_.end(),
                                  [](const Candidate& c) { return !c.last.answered || c.last.unmet; });
  const bool still_resolving = candidates_.empty() && resolve_error_.empty();
  int native = 0;
  for (const auto& candidate : candidates_)
    if (native == 0) native = candidate.last.error;
  const bool may_be_slow = still_resolving || (silent && (met_ || native == 0));
  return {base::Status(may_be_slow ? base::Code::timed_out : base::Code::unreachable, native),
          base::concat("cannot connect within ", seconds_text(base::Clock::now() - begun_), " to ", reasons(),
                       advice_on(addresses()))};
}

std::string Dialler::reasons() const {
  const bool is_v6 = target_.host.find(':') != std::string::npos;
  std::string text = is_v6 ? base::concat("[", target_.host, "]:", target_.port)
                           : base::concat(target_.host, ":", target_.port);
  if (candidates_.empty()) {
    text += ": the name cannot be resolved";
    return resolve_error_.empty() ? text + " (no answer)" : text + ": " + resolve_error_;
  }
  return text + ": " + list_addresses(addresses(), is_name_);
}

std::vector<AddressReport> Dialler::addresses() const {
  std::vector<AddressReport> all;
  for (const auto& [address, last, attempts] : candidates_)
    all.push_back({.address = to_text(address),
                   .reason = last.reason,
                   .error = last.error,
                   .answered = last.answered,
                   .connected = last.connected,
                   .loopback = address.address().is_loopback(),
                   .attempts = attempts});
  return all;
}

}  // namespace parley::socket
