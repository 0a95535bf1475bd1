// A process that ends or gets stuck fails the test and does not outlive it.
#include "tests/contract/transport/process/process_world.h"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <utility>

#include "tests/contract/transport/inproc_world.h"
#include "tests/contract/transport/party.h"

namespace parley::transport::contract {
namespace {

using std::chrono::milliseconds;

// Inproc, whose transports know nobody in other processes: enough to ask them something.
class DisturbedWorld final : public TransportWorld {
 public:
  using Disturbance = void (*)();
  explicit DisturbedWorld(Disturbance disturbance) : disturbance_(disturbance) {}
  std::unique_ptr<Site> make_site() override { return std::make_unique<DisturbedSite>(*this); }
  [[nodiscard]] bool links_to_itself() const override { return true; }
  [[nodiscard]] std::vector<std::string> unreachable_addresses() const override { return {}; }

 private:
  class DisturbedSite final : public Site {
   public:
    explicit DisturbedSite(DisturbedWorld& world) : world_(world), site_(world.inner_.make_site()) {}
    std::unique_ptr<Transport> make(PeerId self) override { return site_->make(self); }
    std::size_t poll() override {
      world_.disturbance_();
      return 0;
    }
    void sleep(base::Deadline deadline) override { site_->sleep(deadline); }
    base::Doorbell& doorbell() override { return site_->doorbell(); }

   private:
    DisturbedWorld& world_;
    const std::unique_ptr<Site> site_;
  };

  InprocWorld inner_;
  const Disturbance disturbance_;
};

std::unique_ptr<Party> make_party(DisturbedWorld::Disturbance disturbance,
                                  milliseconds longest_silence = std::chrono::seconds(90)) {
  ProcessWorld world(std::make_unique<DisturbedWorld>(disturbance), longest_silence);
  return std::make_unique<Party>(world.make_site(), PeerId{3});
}

// Whether no child is left.
bool is_alone() {
  return ::waitpid(-1, nullptr, WNOHANG) < 0 && errno == ECHILD;
}

TEST(ProcessWorld, ATransportLivesInAProcessThatEndsWithIt) {
  auto party = make_party([] {});
  EXPECT_EQ(party->transport().address().substr(0, 7), "inproc:");
  EXPECT_EQ(party->step(), 0U);
  EXPECT_FALSE(is_alone());
  party.reset();
  EXPECT_TRUE(is_alone());
}

TEST(ProcessWorld, AProcessThatExitsFailsTheTest) {
  auto party = make_party([] { _exit(7); });
  EXPECT_NONFATAL_FAILURE(party->step(), "process 3 ended too soon, with status 7");
  EXPECT_TRUE(is_alone());
  EXPECT_EQ(party->step(), 0U);
}

TEST(ProcessWorld, AProcessThatCrashesFailsTheTest) {
  auto party = make_party([] { std::raise(SIGKILL); });
  EXPECT_NONFATAL_FAILURE(party->step(), "process 3 ended too soon, by signal 9");
  EXPECT_TRUE(is_alone());
}

TEST(ProcessWorld, AStuckProcessFailsTheTestAndIsKilled) {
  auto party = make_party([] { ::pause(); }, milliseconds(200));
  EXPECT_NONFATAL_FAILURE(party->step(), "process 3 got stuck");
  EXPECT_TRUE(is_alone());
}

TEST(ProcessWorld, AKilledPartyIsAKilledProcess) {
  auto party = make_party([] {});
  party->kill();
  EXPECT_TRUE(is_alone());
  party->site().doorbell().ring();
  party->sleep(Party::patience(), [] { return false; });  // the ring was not lost
}

}  // namespace
}  // namespace parley::transport::contract
