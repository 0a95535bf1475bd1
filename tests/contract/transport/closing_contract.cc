// Links end: once, after everything that belongs to them, on both sides.
#include "tests/contract/transport/transport_contract.h"

namespace parley::transport::contract {
namespace {

using base::Code;
using base::Scope;

bool is_closed(Party& one) {
  return !one.links()[0]->is_open();
}

TEST_P(TransportContract, ThePeerOfACloserGetsEverythingFirst) {
  make_linked(2);
  CheckedLink& sender = link_of(0, 1);
  const std::vector<std::size_t> sizes{1, 20'000, 0, max_payload_bytes, 77};
  sender.send(sizes);
  bool closed = false;
  party(0).each_step = [&] {
    if (closed || !sender.is_all_sent()) return false;
    // drained() is asked for and wakes nobody: no sleep until it is true.
    if (!sender.endpoint()->drained()) return true;
    sender.close();
    closed = true;
    return true;
  };
  run_until(is_closed);
  run_idle();
  EXPECT_EQ(link_of(1, 0).received(), sizes.size());
  EXPECT_EQ(link_of(1, 0).reason().scope(), Scope::peer);
}

TEST_P(TransportContract, CloseWithPendingSendsCancelsThem) {
  make_linked(2);
  CheckedLink& sender = link_of(0, 1);
  const std::size_t taken = fill_to_pending(0, 1);
  sender.close();  // checks that each completion has run
  EXPECT_GT(sender.completed(Code::cancelled), 0U);
  EXPECT_TRUE(sender.is_open()) << "on_closed() comes from progress()";
  run_until(is_closed);
  // What arrived is a beginning of what was sent, in order, as CheckedLink has seen.
  EXPECT_LE(link_of(1, 0).received(), taken);
}

TEST_P(TransportContract, AClosedLinkTakesNothing) {
  make_linked(2);
  CheckedLink& sender = link_of(0, 1);
  sender.close();
  for (const std::size_t bytes : {std::size_t{10}, std::size_t{100'000}})
    EXPECT_GE(sender.try_send(bytes).scope(), Scope::peer);
  sender.close();  // harmless
  run_until(is_closed);
  run_idle();
}

TEST_P(TransportContract, CloseFromInsideADelivery) {
  for (const std::size_t bytes : {std::size_t{10}, std::size_t{100'000}}) {
    SCOPED_TRACE(bytes);
    parties_.clear();
    make_linked(2);
    link_of(1, 0).on_received = [](CheckedLink& link) { link.close(); };
    link_of(1, 0).send({200'000});
    link_of(0, 1).send({bytes, bytes, bytes});
    run_until(is_closed);
    EXPECT_EQ(link_of(1, 0).received(), 1U);
  }
}

TEST_P(TransportContract, CloseBetweenHeaderAndPayload) {
  make_linked(2);
  link_of(1, 0).on_announced = [](CheckedLink& link) { link.close(); };
  link_of(0, 1).send({max_payload_bytes, 10});
  run_until(is_closed);
  EXPECT_EQ(link_of(1, 0).received(), 0U);
  EXPECT_TRUE(link_of(1, 0).is_landing());
}

TEST_P(TransportContract, CloseFromInsideOnLink) {
  make_parties(2);
  party(1).on_linked = [](CheckedLink& link) { link.close(); };
  link(0, 1);
  run_until([](Party& one) { return one.links().size() == 1 && is_closed(one); });
}

TEST_P(TransportContract, BothSidesCloseAtOnce) {
  make_linked(2);
  link_of(0, 1).send({30'000, 5});
  link_of(1, 0).send({5, 30'000});
  link_of(0, 1).close();
  link_of(1, 0).close();
  run_until(is_closed);
  run_idle();
}

TEST_P(TransportContract, TheDeathOfAPeerIsSeenOnce) {
  make_linked(2);
  CheckedLink& survivor = link_of(0, 1);
  party(1).kill();
  run_until([](Party& one) { return !one.is_alive() || is_closed(one); });
  run_idle();
  EXPECT_EQ(survivor.reason().scope(), Scope::peer);
  EXPECT_EQ(survivor.reason().code(), Code::peer_died);
}

TEST_P(TransportContract, WhatThePeerGotOutBeforeItsDeathArrivesFirst) {
  make_linked(2);
  Party& victim = party(1);
  CheckedLink& sender = link_of(1, 0);
  std::vector<std::size_t> sizes(8, max_payload_bytes);
  sizes.insert(sizes.end(), {1, 20'000, 0, 77});
  sender.send(sizes);
  const auto deadline = Party::patience();
  for (victim.step(); !sender.is_all_sent() || !sender.endpoint()->drained(); victim.step()) {
    ASSERT_FALSE(deadline.expired());
    party(0).step();
  }
  // The victim dies with something unread: a host that resets the link then may drop what is still on its
  // way.
  link_of(0, 1).send({10});
  victim.kill();
  run_until([](Party& one) { return !one.is_alive() || is_closed(one); });
  run_idle();
  EXPECT_EQ(link_of(0, 1).received(), sizes.size());
  EXPECT_EQ(link_of(0, 1).reason().code(), Code::peer_died);
}

TEST_P(TransportContract, TheDeathOfAPeerEndsPendingSends) {
  make_linked(2);
  CheckedLink& survivor = link_of(0, 1);
  const std::size_t taken = fill_to_pending(0, 1);
  survivor.send({1, 2, 3});
  party(1).kill();
  // CheckedLink::closed() fails if a completion is missing then.
  run_until([](Party& one) { return !one.is_alive() || is_closed(one); });
  EXPECT_EQ(survivor.reason().scope(), Scope::peer);
  EXPECT_LE(survivor.completed(Code::ok), taken);
}

TEST_P(TransportContract, OtherLinksSurviveADeath) {
  make_linked(3);
  party(2).kill();
  link_of(0, 1).send({5, 50'000});
  link_of(1, 0).send({50'000, 5});
  run_until([](Party& one) {
    return !one.is_alive() ||
           (!one.link_to(2)->is_open() && one.link_to(one.self() == 0 ? 1 : 0)->received() == 2);
  });
  EXPECT_TRUE(link_of(0, 1).is_open());
  EXPECT_TRUE(link_of(1, 0).is_open());
}

TEST_P(TransportContract, ClosingATransportEndsAllItsLinks) {
  make_linked(3);
  link_of(0, 1).send({100'000, 10});
  link_of(1, 0).send({100'000, 10});
  link_of(2, 0).send({10});
  const std::string address = party(0).transport().address();
  party(0).close();
  run_until([](Party& one) {
    if (one.self() != 0) return !one.link_to(0)->is_open();
    for (const auto& link : one.links())
      if (link->is_open()) return false;
    return true;
  });
  EXPECT_TRUE(link_of(1, 2).is_open());
  const auto deadline = Party::patience();
  while (party(0).step() != 0)
    ASSERT_FALSE(deadline.expired()) << "progress() does not come to 0 after close()";

  // It neither dials nor can be dialled any more.
  const auto soon = base::Deadline::after(std::chrono::milliseconds(300));
  party(0).connect(1, party(1).transport().address(), soon);
  party(1).connect(0, address, soon);
  run_until([](Party& one) { return one.self() == 2 || one.unreachable().size() == 1; });
  EXPECT_EQ(party(0).links().size(), 2U);
  EXPECT_EQ(party(1).links().size(), 2U);
}

TEST_P(TransportContract, AConnectUnderWayAtCloseComesToItsEnd) {
  make_parties(2);
  party(0).connect(1, party(1).transport().address(), base::Deadline::after(std::chrono::milliseconds(300)));
  party(0).close();
  run_until([](Party& one) {
    if (one.self() == 1) return one.links().empty() || is_closed(one);
    return one.unreachable().size() == 1 || (one.links().size() == 1 && is_closed(one));
  });
}

TEST_P(TransportContract, DeathInTheMiddleOfTraffic) {
  make_linked(3);
  for (const auto& one : parties_)
    for (const auto& link : one->links()) link->send(std::vector<std::size_t>(200, 6000));
  Party& victim = party(2);
  victim.each_step = [&victim] {
    if (!victim.is_alive() || victim.links()[0]->received() < 20) return false;
    victim.kill();
    return true;
  };
  run_until([](Party& one) {
    if (one.self() == 2) return !one.is_alive();
    return !one.link_to(2)->is_open() && one.link_to(one.self() == 0 ? 1 : 0)->received() == 200;
  });
}

}  // namespace
}  // namespace parley::transport::contract
