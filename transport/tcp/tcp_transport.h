#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "transport/base/unique_fd.h"
#include "transport/interface/transport.h"
#include "transport/socket/identity.h"
#include "transport/socket/reactor.h"
#include "transport/tcp/tcp_link.h"

namespace parley::transport {

struct TcpOptions {
  std::string host = "127.0.0.1";  // to listen on and to advertise
  std::uint16_t port = 0;
  PeerId self = 0;
  socket::Credentials credentials;
};

// Links over TCP. Connections are made and proved by transport/socket on the reactor; from then on whoever
// drives progress() reads and writes the non-blocking sockets directly.
class TcpTransport final : public Transport {
 public:
  // `reactor` outlives this object and everything started on it.
  TcpTransport(socket::Reactor& reactor, TcpOptions options);
  ~TcpTransport() override;

  [[nodiscard]] std::string_view name() const noexcept override { return "tcp"; }
  // Throws parley::SystemError when the address cannot be bound.
  base::Status start(PacketSink& sink) override;
  [[nodiscard]] std::string address() const override;
  void connect(PeerId peer, std::string_view address, base::Deadline deadline) override;
  void stop_accepting() noexcept override;
  std::size_t progress(Endpoint* awaited) noexcept override;
  [[nodiscard]] bool unsent() const noexcept override { return !unsent_.empty(); }
  bool arm() noexcept override;
  void close() noexcept override;

 private:
  struct Newcomers;  // filled by handlers on the reactor, emptied by progress()

  std::size_t admit_newcomers() noexcept;
  void admit(PeerId peer, socket::Connection connection, bool dialled) noexcept;
  std::size_t write_unsent() noexcept;
  std::size_t receive_ready() noexcept;
  std::size_t reap_ended() noexcept;
  TcpLink* own(Endpoint* awaited) noexcept;
  std::size_t receive_awaited(TcpLink& link) noexcept;
  void watch(TcpLink& link, std::uint32_t events) noexcept;

  socket::Reactor& reactor_;
  TcpOptions options_;
  PacketSink* sink_ = nullptr;
  bool closed_ = false;
  std::shared_ptr<Newcomers> newcomers_;
  struct Accepting;
  std::unique_ptr<Accepting> accepting_;

  base::UniqueFd ready_set_;  // epoll set of all links, level-triggered; the reactor watches it for sleeping
  std::vector<std::unique_ptr<TcpLink>> links_;
  TcpLink::UnsentList unsent_;        // links with something to write, or ended
  Endpoint* last_awaited_ = nullptr;  // known to be ours
  TcpLink* private_ = nullptr;        // polled directly and taken out of the set, see receive_awaited()
  TcpLink* streak_link_ = nullptr;    // whose events came last while it was awaited,
  std::size_t streak_ = 0;            // and how many in a row
  std::size_t pass_ = 0;
};

}  // namespace parley::transport
