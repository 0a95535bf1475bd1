#include <parley/store.h>

#include "rendezvous/store_server.h"
#include "transport/base/fork_guard.h"

namespace parley {

struct TcpStoreServer::Impl {
  explicit Impl(const TcpStoreOptions& options) : server(options, rendezvous::table_limits(options.limits)) {}
  rendezvous::StoreServer server;
  base::ForkGuard fork_guard;
};

TcpStoreServer::TcpStoreServer(const TcpStoreOptions& options) : impl_(std::make_unique<Impl>(options)) {}

TcpStoreServer::~TcpStoreServer() {
  // A forked child has the object but not its thread, nor the right to close the parent's connections: it
  // leaves everything as it is.
  if (impl_->fork_guard.in_child()) [[maybe_unused]]
    auto* left_alone = impl_.release();
}

std::uint16_t TcpStoreServer::port() const noexcept {
  return impl_->server.port();
}
std::size_t TcpStoreServer::client_count() const {
  return impl_->server.client_count();
}
bool TcpStoreServer::wait_for_no_clients(std::chrono::nanoseconds timeout) {
  return impl_->server.wait_for_no_clients(base::Deadline::after(timeout));
}
void TcpStoreServer::disregard_newcomers() {
  impl_->server.disregard_newcomers();
}
void TcpStoreServer::stop_accepting() {
  impl_->server.stop_accepting();
}

}  // namespace parley
