// What a mover of device memory tells its peer, and what it makes of what a peer tells it.
#include "transport/cuda_ipc/ipc_mover.h"

#include <memory>
#include <vector>

#include "tests/unit/cuda_ipc/rank.h"

namespace parley::transport::cuda_ipc {
namespace {

using base::Code;
using cuda::testing::Call;

class Mover : public Rank {
 protected:
  // What is still to be done when a mover goes is left to it.
  ~Mover() override { EXPECT_EQ(device().synchronize(cuda::default_stream), cuda::Code::ok); }
  // The kinds of the notes that are to be sent, which are then.
  std::vector<NoteKind> notes() {
    std::vector<NoteKind> kinds;
    for (auto note = mover_.next_note(); !note.empty(); note = mover_.next_note()) {
      NoteKind kind{};
      std::memcpy(&kind, note.data(), sizeof(kind));
      kinds.push_back(kind);
      mover_.note_sent();
    }
    return kinds;
  }
  template <typename What>
  bool tell(const What& what, std::size_t bytes = sizeof(What)) {
    return mover_.take_note(std::as_bytes(std::span(&what, 1)).first(bytes));
  }
  // One message to its end.
  void send(std::byte* memory, std::size_t bytes) {
    Transfer& transfer = begin(memory, bytes);
    const auto exposure = mover_.expose_device(transfer);
    ASSERT_TRUE(exposure);
    ledger_.take(*exposure);
    mover_.note_pulled(exposure->handle);
    transfer.release();
  }
  Code pull(const Key& key, std::size_t bytes = 8) {
    RemoteKey remote;
    std::memcpy(remote.bytes.data(), &key, sizeof(key));
    Transfer& into = begin(allocate(64), 64);
    const base::Status status = mover_.pull_to_device(remote, into, bytes);
    into.release();
    return status.code();
  }

  Ledger ledger_;
  IpcMover mover_{*port_, ledger_, IpcMover::Copies::by_us};
};

TEST_F(Mover, TellsMemoryOnceAndFirst) {
  std::byte* const memory = allocate(1000);
  send(memory, 1000);
  EXPECT_EQ(notes(), std::vector{NoteKind::memory});
  send(memory + 100, 10);
  EXPECT_EQ(notes(), std::vector<NoteKind>());
  send(allocate(1000), 1000);
  EXPECT_EQ(notes(), std::vector{NoteKind::memory});
}

TEST_F(Mover, TellsAnewWhatHasComeToAnOldAddress) {
  std::byte* memory = own_.memory(5000);
  send(memory, 5000);
  (void)notes();
  ASSERT_EQ(device().free(memory), cuda::Code::ok);
  std::byte* const again = own_.memory(5000);
  ASSERT_EQ(again, memory) << "the simulated device uses addresses again";
  send(again, 5000);
  EXPECT_EQ(notes(), (std::vector{NoteKind::forget, NoteKind::memory}));
  ASSERT_EQ(device().free(again), cuda::Code::ok);
}

// The peer has it open until then, and the device's memory is not free.
TEST_F(Mover, ForgetsWhatWasFreedWithTheNextThatIsNew) {
  std::byte* const kept = allocate(64);
  send(kept, 64);
  const std::array freed{own_.memory(5000), own_.memory(9000)};
  for (std::byte* const memory : freed) send(memory, 5000);
  for (std::byte* const memory : freed) ASSERT_EQ(device().free(memory), cuda::Code::ok);
  (void)notes();
  send(kept, 64);
  EXPECT_EQ(notes(), std::vector<NoteKind>()) << "nobody looks where nothing is new";
  send(allocate(64), 64);
  EXPECT_EQ(notes(), (std::vector{NoteKind::forget, NoteKind::forget, NoteKind::memory}));
  send(kept, 64);
  EXPECT_EQ(notes(), std::vector<NoteKind>());
}

TEST_F(Mover, ForgetsTheAllocationThatWasSentLongestAgo) {
  std::byte* const first = allocate(64);
  send(first, 64);
  std::byte* const second = allocate(64);
  send(second, 64);
  send(first, 64);
  for (std::size_t i = 2; i < Exports::most; ++i) send(allocate(64), 64);
  (void)notes();
  send(allocate(64), 64);
  EXPECT_EQ(notes(), (std::vector{NoteKind::forget, NoteKind::memory}));
  send(first, 64);
  EXPECT_EQ(notes(), std::vector<NoteKind>());
  send(second, 64);
  EXPECT_EQ(notes(), (std::vector{NoteKind::forget, NoteKind::memory}));
}

TEST_F(Mover, OffersNoMoreThanItHasSlotsAndTickets) {
  std::byte* const memory = allocate(64);
  std::vector<Transfer*> transfers;
  std::vector<Exposure> exposures;
  for (std::size_t i = 0; i < Slots::most; ++i) {
    transfers.push_back(&begin(memory, 64));
    const auto exposure = mover_.expose_device(*transfers.back());
    ASSERT_TRUE(exposure);
    exposures.push_back(*exposure);
  }
  Transfer& one_more = begin(memory, 64);
  EXPECT_FALSE(mover_.expose_device(one_more));
  EXPECT_TRUE(mover_.withdraw(exposures[0].handle));
  transfers[0]->release();
  ledger_.is_full = true;
  EXPECT_FALSE(mover_.expose_device(one_more));
  ledger_.is_full = false;
  const auto exposure = mover_.expose_device(one_more);
  ASSERT_TRUE(exposure);
  EXPECT_TRUE(mover_.withdraw(exposure->handle));
  one_more.release();
  for (std::size_t i = 1; i < transfers.size(); ++i) {
    EXPECT_TRUE(mover_.withdraw(exposures[i].handle));
    transfers[i]->release();
  }
}

TEST_F(Mover, AnOfferThatDidNotLeaveIsMadeAgain) {
  Transfer& transfer = begin(allocate(64), 64);
  const auto first = mover_.expose_device(transfer);
  ASSERT_TRUE(first);
  EXPECT_TRUE(mover_.withdraw(first->handle));
  const auto second = mover_.expose_device(transfer);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->handle, first->handle);
  EXPECT_TRUE(mover_.withdraw(second->handle));
  transfer.release();
}

TEST_F(Mover, ATakenOfferIsNotWithdrawn) {
  Transfer& transfer = begin(allocate(64), 64);
  const auto exposure = mover_.expose_device(transfer);
  ASSERT_TRUE(exposure);
  ledger_.take(*exposure);
  EXPECT_FALSE(mover_.withdraw(exposure->handle));
  EXPECT_FALSE(mover_.withdraw(exposure->handle)) << "asked again, as where the link ends";
  mover_.note_pulled(exposure->handle);
  transfer.release();
}

// A peer that has copied, as far as it has told; its stream has not.
class MoverOfAnEndedLink : public Mover {
 protected:
  MoverOfAnEndedLink() {
    Transfer& transfer = begin(allocate(64), 64);
    const auto exposure = mover_.expose_device(transfer);
    ledger_.take(exposure.value());
    Key key;
    std::memcpy(&key, exposure->key.bytes.data(), sizeof(key));
    peers_view_of_ours_.promise(finished_of(key.slot));
    mover_.note_pulled(exposure->handle);
    transfer.release();
  }
  bool our_stream_waits() { return device().pending(cuda::default_stream) != 0; }

  Semaphores peers_view_of_ours_{*port_, ledger_.own_words()};
};

TEST_F(MoverOfAnEndedLink, IsReleasedBeforeAnythingEndsWhereThePeerIsGone) {
  EXPECT_TRUE(our_stream_waits());
  mover_.release_waiters();
  EXPECT_EQ(device().synchronize(cuda::default_stream), cuda::Code::ok);
  mover_.end();
  EXPECT_TRUE(mover_.look_after_end());
}

TEST_F(MoverOfAnEndedLink, WaitsForThePeersStreamsWhileThePeerLives) {
  mover_.end();
  EXPECT_FALSE(mover_.look_after_end());
  EXPECT_TRUE(our_stream_waits());
  peers_view_of_ours_.give(finished_of(0));
  EXPECT_EQ(device().synchronize(cuda::default_stream), cuda::Code::ok);
  EXPECT_TRUE(mover_.look_after_end());
}

// Words that a stream is told to wait for, or to write, are there to the end, whatever becomes of the mover.
TEST_F(Rank, WordsThatAStreamIsStillToUseStayRegistered) {
  Ledger ledger;
  auto mover = std::make_unique<IpcMover>(*port_, ledger, IpcMover::Copies::by_us);
  std::byte* const memory = allocate(64);
  device().hold(cuda::default_stream);
  ASSERT_EQ(device().fill(memory, 1, 1, cuda::default_stream), cuda::Code::ok);
  Transfer& transfer = begin(memory, 64);
  const auto exposure = mover->expose_device(transfer);
  ASSERT_TRUE(exposure);
  ledger.take(*exposure);
  mover->note_pulled(exposure->handle);
  transfer.release();
  mover->end();
  EXPECT_FALSE(mover->look_after_end());
  mover.reset();
  left_registrations_ = 1;
  EXPECT_EQ(device().live_registrations(), 1U);
  device().let_go(cuda::default_stream);
  EXPECT_EQ(device().synchronize(cuda::default_stream), cuda::Code::ok);
}

TEST_F(MoverOfAnEndedLink, IsReleasedWhereThePeerDiesLater) {
  mover_.end();
  EXPECT_FALSE(mover_.look_after_end());
  ledger_.die();
  EXPECT_EQ(device().synchronize(cuda::default_stream), cuda::Code::ok);
  EXPECT_TRUE(mover_.look_after_end());
}

TEST_F(Mover, ShowsNothingWhereTheDriverRefuses) {
  std::byte* const memory = allocate(64);
  // A stream without work is told nothing.
  device().hold(cuda::default_stream);
  ASSERT_EQ(device().fill(memory, 1, 1, cuda::default_stream), cuda::Code::ok);
  // In the order in which they are needed.
  for (const Call call : {Call::create_event, Call::facts_of, Call::export_memory, Call::write_word}) {
    device().fail_next(call, cuda::Code::not_supported);
    Transfer& transfer = begin(memory, 64);
    EXPECT_FALSE(mover_.expose_device(transfer)) << static_cast<int>(call);
    transfer.release();
  }
  device().let_go(cuda::default_stream);
  send(memory, 64);
  EXPECT_EQ(notes(), std::vector{NoteKind::memory});
}

// Who makes the copies shows nothing to a peer of whose memory on the same device it knows.
TEST_F(Mover, OffersToPushToADeviceThatThePeerUsesToo) {
  cuda::DeviceId own{}, other{};
  ASSERT_EQ(device().device_id(0, own), cuda::Code::ok);
  EXPECT_TRUE(tell(MemoryNote{.number = 1, .bytes = 64, .device = other}));
  Transfer& transfer = begin(allocate(64), 64);
  const auto shown = mover_.expose_device(transfer);
  ASSERT_TRUE(shown);
  EXPECT_NE(shown->handle, 0U);
  EXPECT_TRUE(mover_.withdraw(shown->handle));
  EXPECT_TRUE(tell(MemoryNote{.number = 2, .bytes = 64, .device = own}));
  const auto to_push = mover_.expose_device(transfer);
  ASSERT_TRUE(to_push);
  EXPECT_EQ(to_push->handle, 0U);
  EXPECT_TRUE(mover_.leaves_copy_to_peer(to_push->key, transfer)) << "as the other end understands it";
  EXPECT_EQ(mover_.pull_to_device(to_push->key, transfer, 8).code(), Code::unreachable);
  transfer.release();
}

TEST_F(Mover, LeavesCopiesWithinADeviceToTheEndThatMakesThem) {
  cuda::DeviceId own{}, other{};
  ASSERT_EQ(device().device_id(0, own), cuda::Code::ok);
  IpcMover by_peer(*port_, ledger_, IpcMover::Copies::by_peer);
  Transfer& transfer = begin(allocate(64), 64);
  for (IpcMover* const mover : {&mover_, &by_peer}) {
    const MemoryNote here{.number = 1, .bytes = 64, .device = own},
        there{.number = 2, .bytes = 64, .device = other};
    EXPECT_TRUE(mover->take_note(std::as_bytes(std::span(&here, 1))));
    EXPECT_TRUE(mover->take_note(std::as_bytes(std::span(&there, 1))));
    const auto leaves = [&](std::uint32_t memory) {
      const Key key{.memory = memory};
      RemoteKey remote;
      std::memcpy(remote.bytes.data(), &key, sizeof(key));
      return mover->leaves_copy_to_peer(remote, transfer);
    };
    EXPECT_EQ(leaves(1), mover == &by_peer);
    EXPECT_FALSE(leaves(2)) << "on another device";
    EXPECT_FALSE(leaves(3)) << "there is no such";
  }
  transfer.release();
}

// What has been pushed to a block is copied from there.
TEST_F(Mover, APlaceThatCannotBeShownIsFilledFromABlock) {
  std::byte* pool = nullptr;
  ASSERT_EQ(device().allocate_pool_memory(64, pool), cuda::Code::ok);
  Transfer& transfer = begin(pool, 64);
  const auto place = mover_.expose_place(transfer, 64);
  ASSERT_TRUE(place);
  ledger_.take(*place);
  const auto copies = device().count(Call::copy);
  EXPECT_TRUE(mover_.note_pushed(place->handle, transfer, 64).ok());
  EXPECT_EQ(device().count(Call::copy), copies + 1);
  transfer.release();
  EXPECT_EQ(device().synchronize(cuda::default_stream), cuda::Code::ok);
  EXPECT_EQ(device().free(pool), cuda::Code::ok);
}

// The peer has begun to push, and its stream has not come to it.
TEST_F(Mover, WhatCannotBeFetchedFromABlockIsTold) {
  std::byte* pool = nullptr;
  ASSERT_EQ(device().allocate_pool_memory(64, pool), cuda::Code::ok);
  Semaphores of_peer(*port_, ledger_.own_words());
  for (const Call call : {Call::wait_word, Call::copy}) {
    Transfer& transfer = begin(pool, 64);
    const auto place = mover_.expose_place(transfer, 64);
    ASSERT_TRUE(place);
    ledger_.take(*place);
    of_peer.promise(finished_of(0));
    device().fail_next(call, cuda::Code::illegal_address);
    EXPECT_EQ(mover_.note_pushed(place->handle, transfer, 64), base::Status(Code::device_failed, 700));
    transfer.release();
    EXPECT_NE(device().pending(cuda::default_stream), 0U) << "who frees the memory waits for the peer";
    of_peer.give(finished_of(0));
    EXPECT_EQ(device().synchronize(cuda::default_stream), cuda::Code::ok);
  }
  EXPECT_EQ(device().free(pool), cuda::Code::ok);
}

TEST_F(Mover, AStreamThatCannotBeToldToWaitForThePeerIsAFailure) {
  Semaphores of_peer(*port_, ledger_.own_words());
  Transfer& transfer = begin(allocate(64), 64);
  const auto exposure = mover_.expose_device(transfer);
  ASSERT_TRUE(exposure);
  ledger_.take(*exposure);
  of_peer.promise(finished_of(0));
  mover_.note_pulled(exposure->handle);
  device().fail_next(Call::wait_word, cuda::Code::illegal_address);
  EXPECT_EQ(transfer.order(cuda::default_stream), cuda::Code::illegal_address);
  EXPECT_EQ(transfer.order(cuda::default_stream), cuda::Code::ok) << "asked again";
  EXPECT_EQ(device().pending(cuda::default_stream), 1U);
  transfer.release();
  of_peer.give(finished_of(0));
}

TEST_F(Mover, RefusesMalformedNotes) {
  const MemoryNote memory{.number = 1, .bytes = 64};
  EXPECT_FALSE(tell(memory, sizeof(memory) - 1));
  EXPECT_FALSE(tell(MemoryNote{.kind = NoteKind::forget}));
  EXPECT_TRUE(tell(memory));
  EXPECT_FALSE(tell(memory)) << "the number is taken";
  EXPECT_FALSE(tell(ForgetNote{.number = 2})) << "there is no such";
  EXPECT_TRUE(tell(ForgetNote{.number = 1}));
  for (std::uint32_t i = 0; i < Exports::most; ++i) EXPECT_TRUE(tell(MemoryNote{.number = 10 + i}));
  EXPECT_FALSE(tell(MemoryNote{.number = 5})) << "more than a peer tells";
}

TEST_F(Mover, PullsNothingThatItWasNotToldOf) {
  EXPECT_EQ(pull({}), Code::unreachable);
  cuda::DeviceId own{};
  ASSERT_EQ(device().device_id(0, own), cuda::Code::ok);
  EXPECT_TRUE(tell(MemoryNote{.number = 1, .bytes = 64, .device = own}));
  EXPECT_EQ(pull({.slot = 0, .memory = 2}), Code::unreachable);
  EXPECT_EQ(pull({.slot = Slots::most, .memory = 1}), Code::unreachable);
  EXPECT_EQ(pull({.slot = 0, .memory = 1, .offset = 60}), Code::unreachable) << "beyond its end";
  EXPECT_EQ(pull({.slot = 0, .memory = 1, .offset = ~std::uint64_t{0}}), Code::unreachable);
  EXPECT_EQ(pull({.slot = 0, .memory = 1}), Code::unreachable) << "the handle opens nothing";
  const auto tries = device().count(Call::import_memory);
  EXPECT_EQ(pull({.slot = 0, .memory = 1}), Code::unreachable);
  EXPECT_EQ(device().count(Call::import_memory), tries) << "it is not tried again";
}

}  // namespace
}  // namespace parley::transport::cuda_ipc
