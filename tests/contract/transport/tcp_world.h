#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/contract/transport/reactor_site.h"
#include "tests/contract/transport/transport_world.h"
#include "transport/socket/crypto.h"
#include "transport/socket/secure_stream.h"
#include "transport/tcp/tcp_transport.h"

namespace parley::transport::contract {

// Transports of one job over loopback.
class TcpWorld final : public TransportWorld {
 public:
  explicit TcpWorld(bool encrypt = false) : encrypt_(encrypt) {}
  std::unique_ptr<Site> make_site() override {
    return std::make_unique<TcpSite>("the secret of a test, long enough to be no short one", encrypt_);
  }
  std::unique_ptr<Site> make_stranger_site() override {
    return std::make_unique<TcpSite>("the secret of somebody else, who is not of this job", encrypt_);
  }
  // Without OpenSSL nothing is proved.
  [[nodiscard]] bool keeps_strangers_out() const override { return socket::proofs_available(); }
  [[nodiscard]] bool links_to_itself() const override { return false; }
  [[nodiscard]] std::vector<std::string> unreachable_addresses() const override {
    // Port 1 is a reserved one that nobody listens on.
    return {"127.0.0.1:1", "127.0.0.1", "", "127.0.0.1:port"};
  }

 private:
  class TcpSite final : public ReactorSite {
   public:
    TcpSite(std::string secret, bool encrypt) : secret_(std::move(secret)), encrypt_(encrypt) {}
    std::unique_ptr<Transport> make(PeerId self) override {
      TcpOptions options;
      options.self = self;
      options.credentials.secret = secret_;
      options.credentials.encrypt = encrypt_;
      return std::make_unique<TcpTransport>(reactor_, std::move(options));
    }

   private:
    const std::string secret_;
    const bool encrypt_;
  };

  const bool encrypt_;
};

inline std::unique_ptr<TransportWorld> make_tcp() {
  return std::make_unique<TcpWorld>();
}

inline std::unique_ptr<TransportWorld> make_tls() {
  return std::make_unique<TcpWorld>(true);
}

// Nothing in a build that has no TLS.
inline std::vector<ContractCase> if_tls(std::vector<ContractCase> cases) {
  return socket::tls_available() ? std::move(cases) : std::vector<ContractCase>();
}

}  // namespace parley::transport::contract
