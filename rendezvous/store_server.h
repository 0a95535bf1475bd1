#pragma once

#include <parley/store.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include "rendezvous/store_connection.h"
#include "rendezvous/store_limits.h"
#include "rendezvous/store_table.h"
#include "transport/base/deadline.h"
#include "transport/socket/connection.h"
#include "transport/socket/listener.h"
#include "transport/socket/reactor.h"

namespace parley::rendezvous {

// A table served to other processes by one thread. What TcpStoreServer is made of.
// Thread-safety: the public methods.
class StoreServer {
 public:
  // Throws StoreError when the address cannot be bound.
  StoreServer(const TcpStoreOptions& options, const TableLimits& limits);
  // Closes all connections and joins the thread. A forked child has no such thread and must not destroy it.
  ~StoreServer();

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  [[nodiscard]] std::size_t client_count() const;
  bool wait_for_no_clients(base::Deadline deadline);
  // relaxed: a flag for those who connect later; it guards nothing.
  void disregard_newcomers() { are_all_here_.store(true, std::memory_order_relaxed); }
  void stop_accepting() { listener_->stop(); }

 private:
  void listen(const TcpStoreOptions& options);
  void run() noexcept;
  void turn();
  void accept(socket::Connection client) noexcept;
  void close_all() noexcept;
  void forget(const std::shared_ptr<StoreConnection>& connection);
  void count_clients();

  // First, so that it dies last: connections are owned by handlers that wait on it.
  socket::Reactor reactor_;
  StoreTable table_;
  std::array<std::byte, 64 * 1024> scratch_{};
  StoreConnection::Shared shared_;
  std::set<std::shared_ptr<StoreConnection>> connections_;
  std::set<std::shared_ptr<StoreConnection>> newcomers_;  // those of them that nobody waits for
  std::optional<socket::Listener> listener_;
  std::uint16_t port_ = 0;
  mutable std::mutex count_mutex_;
  std::condition_variable count_changed_;
  std::size_t client_count_ = 0;   // under count_mutex_
  std::size_t awaited_count_ = 0;  // likewise: without newcomers
  std::atomic<bool> are_all_here_{false};
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace parley::rendezvous
