#include "transport/socket/bind.h"

#include <netinet/in.h>
#include <parley/error.h>
#include <sys/socket.h>

#include <cerrno>
#include <span>
#include <system_error>
#include <vector>

#include "transport/base/log.h"
#include "transport/base/unique_fd.h"
#include "transport/socket/port_range.h"
#include "transport/socket/random.h"
#include "transport/socket/tcp_socket.h"

namespace parley::socket {
namespace {

using asio::ip::tcp;

[[noreturn]] void fail(const std::string& host, std::uint16_t port, const std::string& reasons) {
  throw SystemError(
      base::concat("cannot listen on ", host.empty() ? "(no address)" : host, " port ", port, ": ", reasons));
}

std::vector<tcp::endpoint> addresses_of(asio::io_context& context, const std::string& host,
                                        std::uint16_t port) {
  if (host.empty()) fail(host, port, "give the address to bind to");
  asio::error_code error;
  const auto numeric = asio::ip::make_address(host, error);
  if (!error) return {tcp::endpoint(numeric, port)};
  tcp::resolver resolver(context);
  const auto found = resolver.resolve(host, std::to_string(port), tcp::resolver::numeric_service, error);
  if (error) fail(host, port, "the name cannot be resolved: " + error.message());
  std::vector<tcp::endpoint> addresses;
  for (const auto& entry : found) addresses.push_back(entry.endpoint());
  return addresses;
}

std::string describe(int error) {
  std::string text = std::system_category().message(error);
  if (error == EADDRINUSE) text += " (another process listens there)";
  if (error == EADDRNOTAVAIL) text += " (no interface of this host has this address)";
  if (error == EACCES) text += " (ports below 1024 need a privilege)";
  if (error == EMFILE) text += " (raise the limit by ulimit -n)";
  return text;
}

base::UniqueFd listen_on(const tcp::endpoint& address) {
  base::UniqueFd fd = open_tcp(address.protocol());
  if (!fd) return fd;
  const int on = 1;
  // Without it a port cannot be bound again for a minute after a restart.
  setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  // "::" must not accept IPv4 as well: bound is what was asked for and nothing else.
  if (address.address().is_v6()) setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
  tune(fd.get());
  const auto size = static_cast<socklen_t>(address.size());
  if (::bind(fd.get(), address.data(), size) != 0 || ::listen(fd.get(), SOMAXCONN) != 0) {
    const int error = errno;
    fd.reset();
    errno = error;
  }
  return fd;
}

// Tries all ports; empty with errno set when none can be had.
base::UniqueFd listen_in(const PortRange& range, const asio::ip::address& address) {
  std::uint32_t start = 0;
  // Without random bytes all processes begin at the same port, which is slower and nothing worse.
  static_cast<void>(fill_random(std::as_writable_bytes(std::span(&start, 1))));
  int worst = EADDRINUSE;
  for (const std::uint16_t port : ports_from(range, start)) {
    base::UniqueFd fd = listen_on(tcp::endpoint(address, port));
    if (fd || (errno != EADDRINUSE && errno != EACCES)) return fd;
    if (errno == EACCES) worst = EACCES;
  }
  errno = worst;
  return {};
}

std::string all_taken(const PortRange& range) {
  return base::concat("all ", range.count(), " ports of PARLEY_PORT_RANGE=", range.first, "-", range.last,
                      " are taken: every rank of a host needs one, and so does a store that picks its own");
}

}  // namespace

tcp::acceptor bind_and_listen(asio::io_context& context, const std::string& host, std::uint16_t port) {
  std::string reasons;
  const auto range = port == 0 ? port_range() : std::nullopt;
  for (const auto& address : addresses_of(context, host, port)) {
    std::string reason = forbidden(address.address());
    if (reason.empty()) {
      if (base::UniqueFd fd = range ? listen_in(*range, address.address()) : listen_on(address)) {
        tcp::acceptor acceptor(context);
        acceptor.assign(address.protocol(), fd.get());
        static_cast<void>(fd.release());  // the acceptor's, now that assign() did not throw
        return acceptor;
      }
      reason = range && errno == EADDRINUSE ? all_taken(*range) : describe(errno);
    }
    if (!reasons.empty()) reasons += "; ";
    reasons += to_text(address) + ": " + reason;
  }
  fail(host, port, reasons);
}

}  // namespace parley::socket
