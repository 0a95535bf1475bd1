#include "rendezvous/store_server.h"

#include <parley/error.h>

#include <exception>
#include <utility>

#include "rendezvous/store_text.h"
#include "transport/base/deadline.h"
#include "transport/base/log.h"
#include "transport/base/threads.h"
#include "transport/socket/identity.h"
#include "transport/socket/reactor_context.h"
#include "transport/socket/secret.h"

namespace parley::rendezvous {

StoreServer::StoreServer(const TcpStoreOptions& options, const TableLimits& limits)
    : table_(limits), shared_{table_, scratch_, [this](StoreConnection& connection) {
                                forget(connection.shared_from_this());
                              }} {
  listen(options);
  thread_ = base::start_own_thread("store", [this] { run(); });
}

StoreServer::~StoreServer() {
  // seq_cst, as in Reactor::Impl::sleeping: the thread announces its sleep, then looks here.
  stopping_.store(true, std::memory_order_seq_cst);
  reactor_.ring();
  thread_.join();
}

std::size_t StoreServer::client_count() const {
  const std::lock_guard lock(count_mutex_);
  return client_count_;
}

bool StoreServer::wait_for_no_clients(base::Deadline deadline) {
  std::unique_lock lock(count_mutex_);
  const auto none = [this] { return awaited_count_ == 0; };
  if (!deadline.is_never()) return count_changed_.wait_until(lock, deadline.when(), none);
  count_changed_.wait(lock, none);
  return true;
}

void StoreServer::forget(const std::shared_ptr<StoreConnection>& connection) {
  connections_.erase(connection);
  newcomers_.erase(connection);
  count_clients();
}

// After each change of `connections_`.
void StoreServer::count_clients() {
  const std::lock_guard lock(count_mutex_);
  client_count_ = connections_.size();
  awaited_count_ = client_count_ - newcomers_.size();
  count_changed_.notify_all();
}

void StoreServer::listen(const TcpStoreOptions& options) try {
  const socket::ListenerOptions where{
      .host = options.host, .port = options.port, .purpose = socket::Purpose::store};
  listener_.emplace(
      reactor_, where, socket::resolve_credentials(options.secret, options.tls),
      [this](socket::Connection connection, const socket::Identity&) { accept(std::move(connection)); });
  port_ = listener_->port();
} catch (const SystemError& error) {
  ErrorDetails details = error.details();
  details.operation = "store listen";
  details.host = endpoint_text(options.host, options.port);
  throw StoreError(base::concat("store listen: ", details.host, ": ", error.what()), details);
}

void StoreServer::run() noexcept {
  while (!stopping_.load(std::memory_order_relaxed)) {
    try {
      turn();
    } catch (const std::exception& error) {
      PARLEY_LOG(error, "store", "the store goes on after: ", error.what());
    }
  }
  close_all();
}

void StoreServer::turn() {
  reactor_.announce_sleep();
  // seq_cst: see the destructor.
  if (stopping_.load(std::memory_order_seq_cst)) return reactor_.cancel_sleep();
  reactor_.sleep(table_.next_deadline());
  table_.expire(base::Clock::now());
}

void StoreServer::accept(socket::Connection client) noexcept try {
  auto connection = std::make_shared<StoreConnection>(reactor_.impl().context, shared_);
  connections_.insert(connection);
  try {
    if (are_all_here_.load(std::memory_order_relaxed)) newcomers_.insert(connection);
    count_clients();
    connection->start(std::move(client));
  } catch (...) {
    forget(connection);
    throw;
  }
} catch (const std::exception& error) {
  PARLEY_LOG(warn, "store", "a client could not be taken: ", error.what());
}

void StoreServer::close_all() noexcept {
  listener_->stop();
  while (!connections_.empty()) {
    const auto connection = *connections_.begin();  // closing takes it out of the set
    connection->close("the store shuts down");
  }
}

}  // namespace parley::rendezvous
