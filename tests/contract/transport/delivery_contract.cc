// Packets arrive: whole, unchanged, in order, once; what does not fit is refused and told of later.
#include <numeric>
#include <random>
#include <thread>

#include "tests/contract/transport/transport_contract.h"

namespace parley::transport::contract {
namespace {

using base::Code;

// Sizes around every limit that a transport may have.
std::vector<std::size_t> telling_sizes() {
  std::vector<std::size_t> sizes{0, 1, 2, 3, 7, 8, 31, 32, 33, 1000};
  for (std::size_t power = 4096; power <= max_payload_bytes; power *= 2) {
    sizes.push_back(power - 1);
    sizes.push_back(power);
    if (power < max_payload_bytes) sizes.push_back(power + 1);
  }
  return sizes;
}

std::vector<std::size_t> random_sizes(std::size_t count, std::size_t largest, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::size_t> sizes(count);
  for (auto& size : sizes) size = random() % (largest + 1);
  return sizes;
}

TEST_P(TransportContract, EverySizeArrivesUnchangedAndInOrder) {
  make_linked(2);
  const auto sizes = telling_sizes();
  link_of(0, 1).send(sizes);
  run_until([&](Party& one) {
    return one.self() == 0 ? one.links()[0]->is_all_sent() : one.links()[0]->received() == sizes.size();
  });
  EXPECT_EQ(link_of(1, 0).received(), sizes.size());
  run_idle();
  EXPECT_EQ(link_of(1, 0).received(), sizes.size());
}

TEST_P(TransportContract, LargePayloadsLandWhereTheSinkWants) {
  make_linked(2);
  link_of(0, 1).send({max_payload_bytes, 100, max_payload_bytes});
  run_until([](Party& one) { return one.self() == 0 || one.links()[0]->received() == 3; });
  EXPECT_GE(link_of(1, 0).landings(), 2U);
}

TEST_P(TransportContract, ManySmallPackets) {
  make_linked(2);
  const auto there = random_sizes(5000, 200, 1);
  const auto back = random_sizes(4000, 300, 2);
  link_of(0, 1).send(there);
  link_of(1, 0).send(back);
  run_until([&](Party& one) {
    return one.links()[0]->received() == (one.self() == 0 ? back.size() : there.size());
  });
}

TEST_P(TransportContract, SmallAndLargeMixed) {
  make_linked(2);
  auto sizes = random_sizes(100, 64, 3);
  for (std::size_t i = 0; i < sizes.size(); i += 9) sizes[i] = 200'000 + i;
  link_of(0, 1).send(sizes);
  link_of(1, 0).send(sizes);
  run_until([&](Party& one) {
    return one.links()[0]->is_all_sent() && one.links()[0]->received() == sizes.size();
  });
}

TEST_P(TransportContract, BothDirectionsFullAtOnce) {
  make_linked(2);
  const std::vector<std::size_t> sizes(5, max_payload_bytes);
  fill(link_of(0, 1), 60'000);
  fill(link_of(1, 0), 60'000);
  const auto first = link_of(0, 1).taken();
  const auto second = link_of(1, 0).taken();
  link_of(0, 1).send(sizes);
  link_of(1, 0).send(sizes);
  run_until([&](Party& one) {
    return one.links()[0]->is_all_sent() &&
           one.links()[0]->received() == sizes.size() + (one.self() == 0 ? second : first);
  });
}

TEST_P(TransportContract, RefusesWhatDoesNotFitAndTellsWhenItDoes) {
  for (const std::size_t bytes : {world_->small_bytes(), std::size_t{5000}, std::size_t{300'000}}) {
    SCOPED_TRACE(bytes);
    parties_.clear();
    make_linked(2);
    CheckedLink& sender = link_of(0, 1);
    const std::size_t taken = fill(sender, bytes);
    EXPECT_GT(taken, 0U);
    // The queue waits for on_writable() alone; CheckedLink fails when that comes uncalled for.
    sender.send({bytes, 1, bytes, 2});
    EXPECT_EQ(sender.taken(), taken) << "send() does not try before on_writable()";
    run_until([&](Party& one) {
      return one.self() == 0 ? one.links()[0]->is_all_sent() : one.links()[0]->received() == taken + 4;
    });
  }
}

TEST_P(TransportContract, NobodyIsToldWritableWithoutARefusal) {
  make_linked(2);
  link_of(0, 1).send({10, 20, 30});
  run_until([](Party& one) { return one.self() == 0 || one.links()[0]->received() == 3; });
  run_idle();  // CheckedLink::writable() would fail
  EXPECT_FALSE(link_of(1, 0).is_refused());
}

TEST_P(TransportContract, CompletionsRunOnceEachAndOutsideOfTrySend) {
  make_linked(2);
  CheckedLink& sender = link_of(0, 1);
  const std::size_t large = sender.endpoint()->copy_limit_bytes() + 1;
  ASSERT_LE(large, max_payload_bytes);
  std::vector<std::size_t> sizes(40, large);
  sizes.resize(80, large - 1);
  sender.send(sizes);
  run_until([&](Party& one) {
    return one.self() == 0 ? one.links()[0]->is_all_sent() : one.links()[0]->received() == sizes.size();
  });
  run_idle();
  EXPECT_LE(sender.completed(Code::ok), 40U);
  EXPECT_EQ(sender.completed(Code::cancelled), 0U);
}

TEST_P(TransportContract, SendsFromInsideDeliveries) {
  make_linked(2);
  constexpr std::uint64_t rounds = 300;
  const auto answer = [](CheckedLink& link) {
    if (link.received() < rounds) link.send({link.received() * 37 % 20'000});
  };
  for (const auto& one : parties_) one->links()[0]->on_received = answer;
  link_of(0, 1).send({1});
  run_until([](Party& one) { return one.links()[0]->received() >= rounds - 1; });
  for (const auto& one : parties_) EXPECT_LE(one->links()[0]->received(), rounds);
}

TEST_P(TransportContract, BatchedPacketsLeaveWithProgress) {
  make_linked(2);
  const auto sizes = random_sizes(500, 3000, 5);
  link_of(0, 1).send(sizes, Endpoint::Urgency::batch);
  run_until([&](Party& one) { return one.self() == 0 || one.links()[0]->received() == sizes.size(); });
}

TEST_P(TransportContract, WhatIsNotUnsentArrivesWithoutItsSender) {
  make_linked(2);
  CheckedLink& sender = link_of(0, 1);
  const std::vector<std::size_t> sizes{8, 0, 100, 4000, 1};
  sender.send(sizes, Endpoint::Urgency::batch);
  const auto deadline = Party::patience();
  while ((sender.is_refused() || party(0).transport().unsent()) && !deadline.expired()) {
    party(0).step();
    if (sender.is_refused()) party(1).step();  // makes room
  }
  while (link_of(1, 0).received() < sizes.size() && !deadline.expired()) party(1).step();
  EXPECT_EQ(link_of(1, 0).received(), sizes.size());
}

TEST_P(TransportContract, DrainsWhenThePeerReads) {
  make_linked(2);
  CheckedLink& sender = link_of(0, 1);
  EXPECT_TRUE(sender.endpoint()->drained());
  sender.send(std::vector<std::size_t>(4, max_payload_bytes));
  // It is asked for and wakes nobody: no sleep until it is true, but no core kept from the peer either.
  party(0).each_step = [&] {
    std::this_thread::yield();
    return !sender.endpoint()->drained();
  };
  run_until([](Party& one) {
    CheckedLink& link = *one.links()[0];
    return one.self() == 0 ? link.is_all_sent() && link.endpoint()->drained() : link.received() == 4;
  });
}

// Three peers send as fast as they can to one that waits for the first of them only.
TEST_P(TransportContract, NoPeerStarvesBehindTheAwaitedOne) {
  make_linked(4);
  constexpr std::uint64_t enough = 50;
  for (std::size_t i = 1; i < 4; ++i) {
    CheckedLink& sender = link_of(i, 0);
    party(i).each_step = [&sender] {
      if (sender.is_refused() || !sender.is_open() || !sender.is_all_sent()) return false;
      sender.send(std::vector<std::size_t>(20, 2000));
      return true;
    };
  }
  party(0).awaited = &link_of(0, 1);
  run_until([](Party& one) {
    if (one.self() != 0) return true;
    for (const auto& link : one.links())
      if (link->received() < enough) return false;
    return true;
  });
  for (std::size_t i = 1; i < 4; ++i) EXPECT_GE(link_of(0, i).received(), enough);
}

TEST_P(TransportContract, FourPartiesAllToAll) {
  make_linked(4);
  const auto sizes = random_sizes(60, 30'000, 7);
  for (const auto& one : parties_)
    for (const auto& link : one->links()) link->send(sizes);
  run_until([&](Party& one) {
    for (const auto& link : one.links())
      if (!link->is_all_sent() || link->received() < sizes.size()) return false;
    return true;
  });
}

}  // namespace
}  // namespace parley::transport::contract
