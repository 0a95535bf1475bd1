#pragma once

#include <cstring>
#include <deque>
#include <random>
#include <vector>

#include "transport/interface/mover.h"

namespace parley::transport {

// Offers that movers of one test have made: what both of their ends know.
struct PretendBoard {
  struct Offer {
    const std::byte* data = nullptr;
    bool taken = false;
    bool withdrawn = false;
  };
  std::vector<Offer> offers;
};

// A mover between messengers of one thread: reads when it is told to, fails and refuses as its dice say, or
// without dice only when it is told to.
class PretendMover final : public Mover {
 public:
  PretendMover(PretendBoard& board, std::uint64_t seed) : board_(board), has_dice_(true), random_(seed) {}
  explicit PretendMover(PretendBoard& board) : board_(board) {}

  [[nodiscard]] std::string_view name() const noexcept override { return "pretend"; }
  [[nodiscard]] std::string describe() const override { return "pretend"; }

  std::optional<Exposure> expose(base::ConstMemoryRef memory) noexcept override {
    if (one_in(8)) return std::nullopt;
    const std::uint64_t number = board_.offers.size();
    board_.offers.push_back({.data = memory.data});
    Exposure exposure;
    std::memcpy(exposure.key.bytes.data(), &number, sizeof(number));
    exposure.handle = number + 1;
    return exposure;
  }
  bool withdraw(std::uint64_t handle) noexcept override {
    PretendBoard::Offer& offer = board_.offers[handle - 1];
    offer.withdrawn = !offer.taken;
    return offer.withdrawn;
  }
  void note_pulled(std::uint64_t handle) noexcept override { wrong_ |= !board_.offers[handle - 1].taken; }
  base::Status pull(const RemoteKey& key, base::MemoryRef into, Completion& done) noexcept override {
    Pull pull{.into = into, .done = &done};
    std::memcpy(&pull.number, key.bytes.data(), sizeof(pull.number));
    if (one_in(16)) return base::Code::io_error;
    pulls_.push_back(pull);
    return base::Code::in_progress;
  }
  [[nodiscard]] bool outruns_links(const RemoteKey& key) const noexcept override {
    return has_dice_ && key.bytes[0] < std::byte{64};
  }
  void stop(Completion& done) noexcept override {
    std::erase_if(pulls_, [&](const Pull& pull) { return pull.done == &done; });
  }

  // The oldest pull. False: there is none.
  bool step() {
    if (pulls_.empty()) return false;
    const Pull pull = pulls_.front();
    pulls_.pop_front();
    PretendBoard::Offer& offer = board_.offers[pull.number];
    base::Status status;
    if (offer.withdrawn) {
      status = base::Code::cancelled;
    } else if (fails || one_in(16)) {
      status = base::Code::io_error;
    } else {
      std::memcpy(pull.into.data, offer.data, pull.into.bytes);
      offer.taken = true;
    }
    pull.done->fn(*pull.done, status);
    return true;
  }
  // Whether it was told of a pull that never was.
  [[nodiscard]] bool wrong() const { return wrong_; }

  bool fails = false;  // what is read from now on

 private:
  struct Pull {
    std::uint64_t number = 0;
    base::MemoryRef into;
    Completion* done = nullptr;
  };
  bool one_in(std::uint32_t many) { return has_dice_ && random_() % many == 0; }

  PretendBoard& board_;
  const bool has_dice_ = false;
  std::mt19937_64 random_;
  std::deque<Pull> pulls_;
  bool wrong_ = false;
};

}  // namespace parley::transport
