#include "toy_transport.h"

#include "tests/contract/transport/transport_contract.h"
#include "transport/base/parker.h"

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
