#pragma once

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/steady_timer.hpp>
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "transport/base/log.h"
#include "transport/base/unique_fd.h"
#include "transport/socket/listener.h"
#include "transport/socket/stranger.h"

namespace parley::socket {

// What a Listener is inside: accepts, keeps the strangers, hands over the authenticated.
// Operations under way share ownership, so that it outlives the Listener until they have ended.
struct Listener::Impl : std::enable_shared_from_this<Listener::Impl> {
  Impl(asio::io_context& io, const ListenerOptions& wanted, std::shared_ptr<const JobKey> secret_key,
       Handler to);

  void start() { wait(); }
  // From any thread, once or more often.
  void stop();
  // On the reactor, or while nobody runs it. Nothing is handed over afterwards.
  void close() noexcept;

  asio::io_context& context;
  const ListenerOptions options;
  const std::shared_ptr<const JobKey> key;
  asio::ip::tcp::acceptor acceptor;
  const asio::ip::tcp::endpoint bound;

 private:
  static constexpr std::size_t max_strangers = 64;
  // Strangers accepted in a row before other handlers get their turn.
  static constexpr int accepts_per_turn = 16;

  void wait();
  void accept_some();
  // What to do after accept(2) failed.
  enum class Next { accept, wait, pause, give_up };
  Next after_error(int error);
  // Accepts and closes one connection with the spare descriptor, so that a full table does not leave it
  // waiting and the acceptor readable for ever.
  Next turn_away();
  void pause();

  // REQUIRES: there is a stranger.
  void displace_oldest();
  void admit(base::UniqueFd fd);
  void finished(const std::shared_ptr<Stranger>& stranger, Stranger::End how);
  void report(const Stranger& stranger, Stranger::End how);
  // Says it unless another line came less than a second ago.
  void say(LogLevel level, const std::function<std::string()>& what);

  Handler handler_;
  std::vector<std::shared_ptr<Stranger>> strangers_;  // oldest first
  asio::steady_timer pause_timer_;
  base::UniqueFd spare_;
  std::atomic<bool> stopping_{false};
  base::LogThrottle lines_;  // of all kinds together
};

}  // namespace parley::socket
