#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "transport/base/doorbell.h"
#include "transport/inproc/device_offers.h"
#include "transport/inproc/inproc_lane.h"
#include "transport/interface/sink.h"

namespace parley::transport {

class InprocPort;

// Both directions of a link. The dialler is end 0, the acceptor end 1; a link to oneself has one end and uses
// lane 0 for both. Shared by the endpoints at both ends; the last one frees it.
struct InprocLink {
  InprocLink(std::shared_ptr<InprocPort> dialler, std::shared_ptr<InprocPort> acceptor,
             const InprocLimits& limits)
      : ports{std::move(dialler), std::move(acceptor)}, lanes{InprocLane(limits), InprocLane(limits)} {}
  std::shared_ptr<InprocPort> ports[2];
  InprocLane lanes[2];  // lane i is written by end i
  std::shared_ptr<DeviceOffers> device_offers = std::make_shared<DeviceOffers>();
};

// A link that somebody dialled to us.
struct InprocOffer {
  PeerId from = 0;
  std::shared_ptr<InprocLink> link;
};

// One transport as the others see it: where they leave links and signals. It outlives its transport for as
// long as a link refers to it. Thread-safety: safe.
class InprocPort {
 public:
  // `doorbell` may be null; it is not used after retire().
  InprocPort(PeerId owner, base::Doorbell* doorbell) noexcept : owner_(owner), doorbell_(doorbell) {}

  [[nodiscard]] PeerId owner() const noexcept { return owner_; }

  // Tells the owner that there is something for it to find, and wakes it if it sleeps.
  void signal() noexcept;
  // Leaves a link for the owner. False: it accepts no more.
  bool offer(InprocOffer offer);

  // For the owner. Whether anything was signalled since the last call. Call it before looking around: what
  // comes later signals again. Cost when false: one relaxed load.
  bool consume_signal() noexcept;
  // Asks for the doorbell at the next signal. False: something was signalled already.
  bool arm() noexcept;
  std::vector<InprocOffer> take_offers() noexcept;
  void stop_accepting() noexcept;
  // The owner is going: accepts nothing, never touches the doorbell again.
  void retire() noexcept;

 private:
  const PeerId owner_;
  std::atomic<bool> signalled_{false};  // written under the mutex only
  std::mutex mutex_;                    // guards everything below
  base::Doorbell* doorbell_;
  bool armed_ = false;
  bool accepting_ = true;
  std::vector<InprocOffer> offers_;
};

// What the transports of one process have in common: the numbers in their addresses, and the limits of their
// links. Outlives them. Thread-safety: safe.
class InprocHub {
 public:
  explicit InprocHub(InprocLimits limits = {}) noexcept : limits_(limits) {}
  InprocHub(const InprocHub&) = delete;
  InprocHub& operator=(const InprocHub&) = delete;

  [[nodiscard]] const InprocLimits& limits() const noexcept { return limits_; }
  // Gives `port` a number that no other one of this hub ever had.
  std::uint64_t enter(std::shared_ptr<InprocPort> port);
  void leave(std::uint64_t number) noexcept;
  // nullptr when nobody has that number now.
  [[nodiscard]] std::shared_ptr<InprocPort> find(std::uint64_t number) const;

 private:
  const InprocLimits limits_;
  mutable std::mutex mutex_;  // guards everything below
  std::map<std::uint64_t, std::shared_ptr<InprocPort>> ports_;
  std::uint64_t last_number_ = 0;
};

}  // namespace parley::transport
