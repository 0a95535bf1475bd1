// Addresses that shared memory does not reach, and what is said of each.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>

#include "transport/base/host.h"
#include "transport/shm/shm_transport.h"
#include "transport/socket/reactor.h"

namespace parley::transport::shm {
namespace {

// Remembers why there is no link.
class Failures final : public PacketSink {
 public:
  void on_link(PeerId, Endpoint&) noexcept override {}
  void on_unreachable(PeerId, base::Status, std::string_view why) noexcept override { said += why; }
  void on_packet(Endpoint&, const PacketHeader&, std::span<const std::byte>) noexcept override {}
  base::MemoryRef on_header(Endpoint&, const PacketHeader&) noexcept override { return {}; }
  void on_landed(Endpoint&, const PacketHeader&) noexcept override {}
  void on_writable(Endpoint&) noexcept override {}
  void on_closed(Endpoint&, base::Status) noexcept override {}
  std::string said;
};

std::string why_not(std::string_view address) {
  socket::Reactor reactor;
  Failures failures;
  ShmTransport transport(reactor, {.number = 0, .job = {}});
  EXPECT_TRUE(transport.start(failures).ok());
  transport.connect(1, address, base::Deadline::after(std::chrono::seconds(60)));
  transport.progress(nullptr);
  return failures.said;
}

TEST(Elsewhere, AnotherHostAndAnotherNetworkNamespaceAreToldApart) {
  const std::string name = "/0123456789abcdef0123456789abcdef";
  EXPECT_EQ(why_not("boot-of-another/net:1" + name), "it is on another host");
  const std::string own = base::host_id();
  const std::string boot = own.substr(0, own.find("/net:"));
  EXPECT_EQ(why_not(boot + "/net:1" + name), "it is in another network namespace of this host");
  EXPECT_EQ(why_not("nowhere"), "this is no address of shared memory");
}

}  // namespace
}  // namespace parley::transport::shm
