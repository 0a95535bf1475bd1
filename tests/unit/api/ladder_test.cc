#include "api/wireup/ladder.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace parley::wireup {
namespace {

using transport::PeerId;

// Remembers what it is asked to dial.
class Dialled final : public transport::Transport {
 public:
  explicit Dialled(std::string_view name) : name_(name) {}
  [[nodiscard]] std::string_view name() const noexcept override { return name_; }
  base::Status start(transport::PacketSink&) override { return {}; }
  [[nodiscard]] std::string address() const override { return "here"; }
  void connect(PeerId peer, std::string_view address, base::Deadline) override {
    dials.push_back(std::to_string(peer) + "@" + std::string(address));
  }
  void stop_accepting() noexcept override { accepts = false; }
  std::size_t progress(transport::Endpoint*) noexcept override { return 0; }
  [[nodiscard]] bool unsent() const noexcept override { return false; }
  bool arm() noexcept override { return true; }
  void close() noexcept override {}

  std::vector<std::string> dials;
  bool accepts = true;

 private:
  std::string_view name_;
};

using Dials = std::vector<std::string>;

// Of the ranks, in order.
Ladder::AddressOf addresses(std::vector<std::string> all) {
  return [all = std::move(all)](PeerId rank, const rendezvous::AddressCard&) { return all.at(rank); };
}

const rendezvous::AddressCard any_card;

TEST(Ladder, GoesDownOneRungAtATimeAndSaysWhy) {
  Dialled shm("shm"), tcp("tcp");
  Ladder ladder;
  ladder.add(shm, addresses({"s0", "s1"}));
  ladder.add(tcp, addresses({"t0", "t1"}));
  ladder.dial(1, any_card, base::Deadline::never());
  EXPECT_EQ(shm.dials, Dials({"1@s1"}));
  EXPECT_EQ(ladder.obstacles(1), "");
  EXPECT_TRUE(ladder.try_next(1, "it is on another host"));
  EXPECT_EQ(tcp.dials, Dials({"1@t1"}));
  EXPECT_EQ(ladder.obstacles(1), "no shm: it is on another host");
  EXPECT_FALSE(ladder.try_next(1, "connection refused"));
  EXPECT_EQ(ladder.obstacles(0), "");
}

TEST(Ladder, ANewDialBeginsAtTheTop) {
  Dialled shm("shm"), tcp("tcp");
  Ladder ladder;
  ladder.add(shm, addresses({"s0"}));
  ladder.add(tcp, addresses({"t0"}));
  for (int turn = 0; turn < 2; ++turn) {
    ladder.dial(0, any_card, base::Deadline::never());
    EXPECT_TRUE(ladder.try_next(0, "x"));
  }
  EXPECT_EQ(shm.dials, Dials({"0@s0", "0@s0"}));
  EXPECT_EQ(tcp.dials, Dials({"0@t0", "0@t0"}));
  EXPECT_EQ(ladder.obstacles(0), "no shm: x");
}

TEST(Ladder, ARankWithoutAnAddressIsNotDialledThere) {
  Dialled shm("shm"), tcp("tcp");
  Ladder ladder;
  ladder.add(shm, addresses({"", "s1"}));
  ladder.add(tcp, addresses({"t0", "t1"}));
  ladder.dial(0, any_card, base::Deadline::never());
  EXPECT_EQ(shm.dials, Dials());
  EXPECT_EQ(tcp.dials, Dials({"0@t0"}));
  EXPECT_EQ(ladder.obstacles(0), "no shm: it offers none");
}

TEST(Ladder, TakesTheAddressesFromTheCard) {
  Dialled tcp("tcp");
  Ladder ladder;
  ladder.add(tcp, [](PeerId, const rendezvous::AddressCard& card) { return card.tcp_address; });
  rendezvous::AddressCard card;
  card.tcp_address = "t7";
  ladder.dial(7, card, base::Deadline::never());
  EXPECT_EQ(tcp.dials, Dials({"7@t7"}));
  EXPECT_FALSE(ladder.try_next(8, "it was never dialled"));
}

TEST(Ladder, AllStopAccepting) {
  Dialled shm("shm"), tcp("tcp");
  Ladder ladder;
  ladder.add(shm, addresses({"s0"}));
  ladder.add(tcp, addresses({"t0"}));
  ladder.stop_accepting();
  EXPECT_FALSE(shm.accepts || tcp.accepts);
}

}  // namespace
}  // namespace parley::wireup
