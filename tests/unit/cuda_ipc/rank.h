#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "tests/unit/cuda/device.h"
#include "transport/cuda/runtime.h"
#include "transport/cuda_ipc/ipc_mover.h"
#include "transport/cuda_ipc/transfer.h"

namespace parley::transport::cuda_ipc {

// A simulated host with two devices, the first one entered, as the process's runtime. Nothing of it may be
// left at the end.
class Rank : public ::testing::Test {
 protected:
  Rank() {
    cuda::replace_runtime(&own_.device, "");
    port_.emplace();
    EXPECT_EQ(port_->open(), &own_.device);
  }
  ~Rank() override {
    port_.reset();
    for (std::byte* memory : memories_) EXPECT_EQ(own_.device.free(memory), cuda::Code::ok);
    cuda::replace_runtime(nullptr, "the test is over");
    EXPECT_EQ(own_.device.live_allocations(), 0U);
    EXPECT_EQ(own_.device.live_events(), 0U);
    EXPECT_EQ(own_.device.open_imports(), 0U);
    EXPECT_EQ(own_.device.live_registrations(), left_registrations_);
  }
  [[nodiscard]] cuda::testing::SimulatedDevice& device() { return own_.device; }
  std::byte* allocate(std::size_t bytes) {
    memories_.push_back(own_.memory(bytes));
    return memories_.back();
  }
  Transfer& begin(std::byte* memory, std::size_t bytes, cuda::Stream stream = cuda::default_stream) {
    return *port_->begin(0, stream, memory, bytes);
  }

  cuda::testing::EnteredDevice own_{{.devices = 2}};
  std::optional<Port> port_;
  std::vector<std::byte*> memories_;
  std::size_t left_registrations_ = 0;  // to the process's end
};

// The ledger of a link that has no other end: who takes offers is the test.
class Ledger final : public OfferLedger {
 public:
  Ledger() { EXPECT_EQ(::pipe(life_), 0); }
  ~Ledger() {
    EXPECT_TRUE(standing.empty()) << "offers that were neither withdrawn nor taken";
    for (const int end : life_)
      if (end >= 0) ::close(end);
  }
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;
  std::optional<OfferTicket> open_offer() noexcept override {
    if (is_full) return std::nullopt;
    standing[++last] = false;
    return OfferTicket{last, last};
  }
  bool withdraw_offer(OfferTicket ticket) noexcept override {
    const auto found = standing.extract(ticket.word);
    EXPECT_FALSE(found.empty()) << "it stood no more";
    return found.empty() || !found.mapped();
  }
  void note_offer_taken(OfferTicket ticket) noexcept override { EXPECT_EQ(standing.erase(ticket.word), 1U); }
  bool take_offer(OfferTicket ticket) noexcept override { return ticket.word == 1; }

  std::shared_ptr<std::byte> own_words() noexcept override { return own_; }
  std::shared_ptr<std::byte> peer_words() noexcept override { return peer_; }
  base::UniqueFd end_of_peer() noexcept override { return base::UniqueFd(::dup(life_[0])); }
  // The peer's process ends.
  void die() { ::close(std::exchange(life_[1], -1)); }

  void take(const Exposure& exposure) {
    Key key;
    std::memcpy(&key, exposure.key.bytes.data(), sizeof(key));
    standing.at(key.ticket_word) = true;
  }

  bool is_full = false;
  std::uint32_t last = 0;
  std::map<std::uint32_t, bool> standing;  // whether it was taken

 private:
  static std::shared_ptr<std::byte> page() {
    struct alignas(2 * offer_word_bytes) Page {
      std::array<std::byte, 2 * offer_word_bytes> bytes{};
    };
    auto made = std::make_shared<Page>();
    return {made, made->bytes.data() + offer_word_bytes};
  }
  const std::shared_ptr<std::byte> own_ = page(), peer_ = page();
  int life_[2] = {-1, -1};
};

}  // namespace parley::transport::cuda_ipc
