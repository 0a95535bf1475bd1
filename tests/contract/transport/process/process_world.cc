#include "tests/contract/transport/process/process_world.h"

#include <optional>

#include "tests/contract/transport/process/remote_transport.h"
#include "transport/base/parker.h"

namespace parley::transport::contract {
namespace {

// A site in a process. When the process is dead, who drives it still sleeps here.
class ProcessSite final : public Site {
 public:
  ProcessSite(Child::MakeSite make_site, std::chrono::milliseconds longest_silence)
      : make_site_(std::move(make_site)), longest_silence_(longest_silence) {}

  std::unique_ptr<Transport> make(PeerId self) override {
    child_.emplace(make_site_, self, longest_silence_);
    bell_.child = &*child_;
    return std::make_unique<RemoteTransport>(*child_);
  }
  std::size_t poll() override { return child_->ask({.verb = Verb::poll}).number; }
  void announce_sleep() override { child_->ask({.verb = Verb::announce_sleep}); }
  void cancel_sleep() override { child_->ask({.verb = Verb::cancel_sleep}); }
  void sleep(base::Deadline deadline) override {
    if (!child_->is_alive()) {
      bell_.parker.park(deadline);
      return;
    }
    const auto when = static_cast<std::uint64_t>(deadline.when().time_since_epoch().count());
    child_->ask({.verb = Verb::sleep, .number = when});
  }
  base::Doorbell& doorbell() override { return bell_; }

 private:
  struct Bell final : base::Doorbell {
    void ring() noexcept override {
      parker.unpark();
      child->ring();
    }
    base::Parker parker;
    Child* child = nullptr;
  };

  const Child::MakeSite make_site_;
  const std::chrono::milliseconds longest_silence_;
  std::optional<Child> child_;
  Bell bell_;
};

}  // namespace

std::unique_ptr<Site> ProcessWorld::make_site() {
  return std::make_unique<ProcessSite>([this] { return inner_->make_site(); }, longest_silence_);
}

std::unique_ptr<Site> ProcessWorld::make_stranger_site() {
  return std::make_unique<ProcessSite>([this] { return inner_->make_stranger_site(); }, longest_silence_);
}

}  // namespace parley::transport::contract
