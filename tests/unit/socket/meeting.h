#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "transport/base/deadline.h"
#include "transport/base/unique_fd.h"
#include "transport/socket/dial.h"
#include "transport/socket/listener.h"

namespace parley::socket::testing {

// Long enough never to pass in a good run.
base::Deadline guard();

// The open descriptors of this process and what they are.
std::map<int, std::string> open_descriptors();

// Sleeps on the reactor and runs its handlers until `done` holds; false when the guard passed first.
bool run_until(Reactor& reactor, const std::function<bool()>& done);
// Runs handlers until none is ready.
void run_ready(Reactor& reactor);

// A non-blocking TCP connection that the test itself reads and writes.
class RawPeer {
 public:
  RawPeer() = default;
  explicit RawPeer(base::UniqueFd fd) : connection_(std::move(fd)) {}
  explicit RawPeer(Connection connection) : connection_(std::move(connection)) {}
  static RawPeer connect_to(std::uint16_t port);

  void send(std::span<const std::byte> bytes);
  void send(const std::string& text) { send(std::as_bytes(std::span(text))); }
  // What has arrived by now; `closed` is set at the end of the stream or at a reset.
  void receive();
  [[nodiscard]] bool closed() {
    receive();
    return closed_;
  }
  [[nodiscard]] const std::vector<std::byte>& received() {
    receive();
    return received_;
  }
  // Copies the first bytes received. REQUIRES: so many have arrived.
  template <typename Bytes>
  Bytes take() {
    Bytes bytes;
    EXPECT_GE(received_.size(), bytes.size());
    std::copy_n(received_.begin(), bytes.size(), bytes.begin());
    received_.erase(received_.begin(), received_.begin() + static_cast<std::ptrdiff_t>(bytes.size()));
    return bytes;
  }
  void reset();  // closes with a RST
  [[nodiscard]] int fd() const { return connection_.descriptor(); }

 private:
  Connection connection_;
  std::vector<std::byte> received_;
  bool closed_ = false;
};

// A loopback port that nobody listens on, kept from others while this lives. A Listener can still take it.
class ReservedPort {
 public:
  ReservedPort();
  [[nodiscard]] std::uint16_t number() const { return number_; }
  // Makes it a port where connections are accepted by the kernel alone, so many at a time.
  void listen(int backlog);
  // The next connection; empty when there is none.
  [[nodiscard]] RawPeer accept();

 private:
  base::UniqueFd fd_;
  std::uint16_t number_ = 0;
};

// A reactor, what was handed over on it, and a check that no descriptor is left at the end.
class Meeting : public ::testing::Test {
 protected:
  struct Arrival {
    Connection socket;
    Identity identity;
  };

  Meeting();
  void TearDown() override;

  // Listens as process 2 for data, for job 1.
  std::unique_ptr<Listener> listen(ListenerOptions options = process_2());
  static ListenerOptions process_2();
  Listener::Handler collect();

  // Dials as process 1, for data and job 1, and runs the reactor until the outcome is there.
  base::Result<Connection> dial_now(const std::string& host, std::uint16_t port,
                                    base::Deadline deadline = guard());
  base::Result<Connection> dial_now(const DialTarget& target, const Identity& identity,
                                    const Credentials& credentials, base::Deadline deadline = guard());
  // Whether a dial with the right secret gets in at once, without a second attempt.
  void expect_right_client_gets_in(Listener& listener);

  static Credentials right();
  static Identity from_1_to_2() { return {Purpose::data, 1, 2}; }

  std::map<int, std::string> before_ = open_descriptors();
  std::unique_ptr<Reactor> reactor_ = std::make_unique<Reactor>();
  std::vector<Arrival> arrivals_;
};

}  // namespace parley::socket::testing
