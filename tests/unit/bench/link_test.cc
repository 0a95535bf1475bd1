// The bare socket, the shared page and the probe, with a thread as the partner.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "bench/buffers.h"
#include "bench/phase.h"
#include "bench/probe.h"
#include "bench/raw_link.h"
#include "bench/raw_system.h"
#include "bench/shared_memory.h"
#include "bench/waiting.h"

namespace parley::bench {
namespace {

// The test machine may have fewer free cores than threads: yield.
struct Ends {
  RawLink here;
  RawLink there;
};

Ends make_ends() {
  const RawListener listener;
  base::UniqueFd there = connect_raw(listener.port());
  return {RawLink(listener.accept(), Idle::yield), RawLink(std::move(there), Idle::yield)};
}

TEST(RawLink, CarriesMoreThanTheKernelBuffers) {
  Ends ends = make_ends();
  std::vector<std::uint8_t> sent(std::size_t{24} << 20);
  for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<std::uint8_t>(i % 253 + 1);
  std::vector<std::uint8_t> received(sent.size());
  std::thread writer([&] { ends.there.send(sent.data(), sent.size()); });
  ends.here.receive(received.data(), received.size());
  writer.join();
  EXPECT_EQ(received, sent);
}

TEST(RawLink, AClosedPartnerIsAnError) {
  Ends ends = make_ends();
  { const RawLink gone = std::move(ends.there); }
  std::uint8_t byte = 0;
  EXPECT_THROW(ends.here.receive(&byte, 1), std::runtime_error);
}

TEST(RawLink, TellsAnOpenConnectionFromAClosedOne) {
  Ends ends = make_ends();
  EXPECT_NO_THROW(ends.here.expect_open());
  const std::uint8_t byte = 7;
  ends.there.send(&byte, 1);
  EXPECT_NO_THROW(ends.here.expect_open());
  std::uint8_t received = 0;
  ends.here.receive(&received, 1);
  EXPECT_EQ(received, 7) << "looking takes nothing away";
  { const RawLink gone = std::move(ends.there); }
  EXPECT_THROW(ends.here.expect_open(), std::runtime_error);
}

TEST(Probe, EndsWhenThePartnerHasGone) {
  Ends ends = make_ends();
  { const RawLink gone = std::move(ends.there); }
  const SharedMemory page = SharedMemory::create(Probe::memory_bytes);
  const Waiting waiting(ends.here, Idle::spin);
  EXPECT_THROW(Probe(page, waiting, true).measure(), std::runtime_error);
}

TEST(RawLink, ConnectingToNobodyIsAnError) {
  std::uint16_t port = 0;
  {
    const RawListener listener;
    port = listener.port();
  }
  EXPECT_THROW(static_cast<void>(connect_raw(port)), std::system_error);
}

// Runs one phase on both ends and returns the leader's result; both ends' data is checked.
PhaseResult run_raw(Op op, std::size_t bytes, const Plan& plan) {
  Ends ends = make_ends();
  Buffers mine(bytes, 0, 1);
  Buffers theirs(bytes, 1, 0);
  std::thread partner([&] {
    RawSystem system(ends.there, theirs, op, plan);
    run_phase(system, op, plan, false);
  });
  RawSystem system(ends.here, mine, op, plan);
  PhaseResult result = run_phase(system, op, plan, true);
  partner.join();
  theirs.check_in();
  if (receives_messages(op, true)) mine.check_in();
  return result;
}

TEST(RawSystem, PingPongDeliversEveryByte) {
  const Plan plan{.warmup = 1, .batches = 2, .batch_length = 3, .tail_samples = 4, .window = 1, .divisor = 2};
  for (const std::size_t bytes :
       {std::size_t{1}, std::size_t{8}, std::size_t{100'000}, std::size_t{1} << 20}) {
    const PhaseResult result = run_raw(Op::latency, bytes, plan);
    EXPECT_GT(result.us, 0) << bytes;
    EXPECT_EQ(result.tail_us.size(), 4U) << bytes;
  }
}

TEST(RawSystem, WindowsDeliverEveryByte) {
  const Plan plan{.warmup = 1, .batches = 1, .batch_length = 2, .window = 64, .divisor = 64};
  // Joined in one call, joined in several with a remainder, and one call a message.
  for (const std::size_t bytes : {std::size_t{8}, std::size_t{3000}, std::size_t{100'000}}) {
    EXPECT_GT(run_raw(Op::bandwidth, bytes, plan).us, 0) << bytes;
    EXPECT_GT(run_raw(Op::bidirectional, bytes, plan).us, 0) << bytes;
  }
  EXPECT_GT(run_raw(Op::message_rate, 8, plan).us, 0);
}

TEST(Buffers, StartFilledWithoutAZeroByte) {
  Buffers buffers(3, 0, 1);
  EXPECT_EQ(buffers.out().size(), 3U);
  EXPECT_GE(buffers.capacity(), Buffers::least_capacity);
  for (std::size_t i = 0; i < buffers.capacity(); ++i) ASSERT_NE(buffers.out().data()[i], 0) << i;
}

TEST(Buffers, ARewrittenMessageIsAnotherOne) {
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{4097}, std::size_t{100'003}}) {
    Buffers mine(bytes, 0, 1);
    Buffers theirs(bytes, 1, 0);
    const auto receive = [&] { std::memcpy(mine.in().data(), theirs.out().data(), bytes); };
    receive();
    theirs.rewrite_out();
    mine.expect_rewritten();
    EXPECT_THROW(mine.check_in(), std::runtime_error) << "the old one";
    receive();
    EXPECT_NO_THROW(mine.check_in());
    mine.spoil_in();
    EXPECT_THROW(mine.check_in(), std::runtime_error);
    theirs.rewrite_out();
    receive();
    mine.expect_rewritten();
    EXPECT_NO_THROW(mine.check_in());
  }
}

TEST(Buffers, MayLieInMemoryOfTheCallers) {
  std::vector<std::uint8_t> memory(Buffers::least_capacity);
  Buffers buffers(8, 0, 1, memory.data());
  EXPECT_EQ(buffers.out().data(), memory.data());
  EXPECT_NE(memory[0], 0);
}

TEST(Buffers, OnlyThePartnersMessagePassesTheCheck) {
  Buffers mine(4096, 0, 1);
  Buffers theirs(4096, 1, 0);
  EXPECT_THROW(mine.check_in(), std::runtime_error);
  std::memcpy(mine.in().data(), theirs.out().data(), 4096);
  EXPECT_NO_THROW(mine.check_in());
  mine.in()[4095] ^= 1;
  EXPECT_THROW(mine.check_in(), std::runtime_error);
  mine.spoil_in();
  EXPECT_THROW(mine.check_in(), std::runtime_error);
}

TEST(SharedMemory, IsTheSameMemoryForBoth) {
  const SharedMemory created = SharedMemory::create(5000);
  const SharedMemory opened = SharedMemory::open_from(::getpid(), created.fd());
  EXPECT_EQ(opened.bytes(), 5000U);
  ASSERT_NE(created.data(), opened.data());
  auto* there = static_cast<char*>(opened.data());
  EXPECT_EQ(there[100], 0);
  static_cast<char*>(created.data())[100] = 42;
  EXPECT_EQ(there[100], 42);
}

TEST(SharedMemory, ADescriptorThatIsNotThereIsAnError) {
  EXPECT_THROW(SharedMemory::open_from(::getpid(), 1'000'000), std::system_error);
}

TEST(Probe, TellsTheLeaderAPositiveTimeAndCanBeRepeated) {
  Ends ends = make_ends();
  const SharedMemory page = SharedMemory::create(Probe::memory_bytes);
  const SharedMemory partners_page = SharedMemory::open_from(::getpid(), page.fd());
  std::thread partner([&] {
    const Waiting waiting(ends.there, Idle::spin);
    Probe probe(partners_page, waiting, false);
    EXPECT_EQ(probe.measure(), 0);
    EXPECT_EQ(probe.measure(), 0);
  });
  const Waiting waiting(ends.here, Idle::spin);
  Probe probe(page, waiting, true);
  EXPECT_GT(probe.measure(), 0);
  EXPECT_GT(probe.measure(), 0);
  partner.join();
}

}  // namespace
}  // namespace parley::bench
