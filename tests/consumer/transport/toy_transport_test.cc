// A transport that is not of Parley's tree, and the installed suite that tests it.
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tests/contract/transport/transport_contract.h"
#include "transport/base/parker.h"
#include "transport/inproc/inproc_transport.h"

namespace toy {

using namespace parley;

constexpr std::string_view prefix = "toy+";

// The in-process transport under addresses of its own.
class ToyTransport final : public transport::Transport {
 public:
  ToyTransport(transport::InprocHub& hub, transport::PeerId self, base::Doorbell* doorbell)
      : inner_(hub, self, doorbell) {}

  [[nodiscard]] std::string_view name() const noexcept override { return "toy"; }
  base::Status start(transport::PacketSink& sink) override { return inner_.start(sink); }
  [[nodiscard]] std::string address() const override { return std::string(prefix) + inner_.address(); }
  void connect(transport::PeerId peer, std::string_view address, base::Deadline deadline) override {
    const bool ours = address.substr(0, prefix.size()) == prefix;
    inner_.connect(peer, ours ? address.substr(prefix.size()) : "", deadline);
  }
  void stop_accepting() noexcept override {
    if (std::getenv("TOY_IS_BROKEN") == nullptr) inner_.stop_accepting();
  }
  std::size_t progress(transport::Endpoint* awaited) noexcept override { return inner_.progress(awaited); }
  [[nodiscard]] bool unsent() const noexcept override { return inner_.unsent(); }
  bool arm() noexcept override { return inner_.arm(); }
  void close() noexcept override { inner_.close(); }

 private:
  transport::InprocTransport inner_;
};

}  // namespace toy

namespace parley::transport::contract {
namespace {

class ToyWorld final : public TransportWorld {
 public:
  std::unique_ptr<Site> make_site() override { return std::make_unique<ToySite>(hub_); }
  [[nodiscard]] bool links_to_itself() const override { return true; }
  [[nodiscard]] std::vector<std::string> unreachable_addresses() const override {
    return {"toy+inproc:424242", "inproc:1", "toy+", ""};
  }

 private:
  struct Bell final : base::Doorbell {
    void ring() noexcept override { parker.unpark(); }
    base::Parker parker;
  };
  class ToySite final : public Site {
   public:
    explicit ToySite(InprocHub& hub) : hub_(hub) {}
    std::unique_ptr<Transport> make(PeerId self) override {
      return std::make_unique<toy::ToyTransport>(hub_, self, &bell_);
    }
    void sleep(base::Deadline deadline) override { bell_.parker.park(deadline); }
    base::Doorbell& doorbell() override { return bell_; }

   private:
    InprocHub& hub_;
    Bell bell_;
  };

  InprocHub hub_;
};

std::unique_ptr<TransportWorld> make_toys() {
  return std::make_unique<ToyWorld>();
}

INSTANTIATE_TEST_SUITE_P(Toy, TransportContract, testing::ValuesIn(both_drives("Toy", make_toys)), case_name);

}  // namespace
}  // namespace parley::transport::contract
