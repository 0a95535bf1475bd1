// Device memory by way of the host: pieces out, payloads in.
#include "transport/cuda_ipc/transfer.h"

#include <algorithm>
#include <vector>

#include "tests/unit/cuda_ipc/rank.h"

namespace parley::transport::cuda_ipc {
namespace {

using base::Code;
using cuda::testing::Call;
using Bytes = std::vector<std::byte>;

Bytes content(std::size_t bytes) {
  Bytes made(bytes);
  for (std::size_t i = 0; i < bytes; ++i) made[i] = static_cast<std::byte>(i * 7 + (i >> 10));
  return made;
}

class TransferTest : public Rank {
 protected:
  std::byte* memory_with(const Bytes& bytes) {
    std::byte* const memory = allocate(bytes.size());
    std::copy(bytes.begin(), bytes.end(), device().reach(memory, bytes.size()));
    return memory;
  }
  Bytes found(const std::byte* memory, std::size_t bytes) {
    EXPECT_EQ(device().synchronize(cuda::default_stream), cuda::Code::ok);
    const std::byte* const seen = device().reach(memory, bytes);
    return {seen, seen + bytes};
  }
  // All pieces, as fast as they come.
  static Bytes read_all(Transfer& transfer, std::size_t bytes, int receiver = 1) {
    Bytes all;
    transfer.begin_reading(bytes, receiver);
    while (all.size() < bytes) {
      std::span<const std::byte> piece;
      const base::Status status = transfer.next_piece(piece);
      if (status.code() == Code::again) continue;
      if (!status.ok()) break;
      all.insert(all.end(), piece.begin(), piece.end());
      transfer.piece_sent();
    }
    return all;
  }
};

TEST_F(TransferTest, ReadsAllPiecesInOrder) {
  for (const std::size_t bytes :
       {std::size_t{1}, std::size_t{4096}, std::size_t{300'000}, std::size_t{9 << 20}}) {
    const Bytes all = content(bytes);
    Transfer& transfer = begin(memory_with(all), bytes);
    EXPECT_EQ(read_all(transfer, bytes), all) << bytes;
    transfer.release();
  }
}

TEST_F(TransferTest, ReadsAheadOfWhatWasSent) {
  constexpr std::size_t bytes = 8 << 20;
  Transfer& transfer = begin(memory_with(content(bytes)), bytes);
  device().hold(cuda::default_stream);
  transfer.begin_reading(bytes, 1);
  std::span<const std::byte> piece;
  EXPECT_EQ(transfer.next_piece(piece).code(), Code::again);
  EXPECT_EQ(device().count(Call::copy), 2U) << "a small piece and another one are on the way";
  device().let_go(cuda::default_stream);
  transfer.release();  // in the middle: their blocks are used again when the copies have ended
}

TEST_F(TransferTest, BeginsWithASmallPieceWhereNothingElseIsOnItsWay) {
  constexpr std::size_t bytes = 1 << 20, few = 300 << 10;
  Transfer &one = begin(memory_with(content(few)), few), &other = begin(allocate(bytes), bytes);
  one.begin_reading(few, 1);
  other.begin_reading(bytes, 1);
  ASSERT_EQ(device().synchronize(cuda::default_stream), cuda::Code::ok);
  std::span<const std::byte> first, second;
  ASSERT_TRUE(one.next_piece(first).ok());
  ASSERT_TRUE(other.next_piece(second).ok());
  EXPECT_EQ(first.size(), std::size_t{256} << 10);
  EXPECT_EQ(second.size(), std::size_t{1} << 20);
  one.release();
  other.release();
}

TEST_F(TransferTest, SendsToOneReceiverTakeTurnsInReadingAhead) {
  constexpr std::size_t bytes = 1 << 20;
  std::byte* const memory = memory_with(content(bytes));
  std::vector<Transfer*> sends;
  for (int i = 0; i < 5; ++i) {
    sends.push_back(&begin(memory, bytes));
    sends.back()->begin_reading(bytes, 1);
  }
  EXPECT_EQ(device().count(Call::copy), 2U) << "both pieces of the first";
  sends[1]->release();  // it was next
  ASSERT_EQ(device().synchronize(cuda::default_stream), cuda::Code::ok);
  std::span<const std::byte> piece;
  EXPECT_EQ(sends[2]->next_piece(piece).code(), Code::again) << "two blocks are full";
  for (std::uint64_t copies = 3; copies < 5; ++copies) {
    EXPECT_TRUE(sends[0]->next_piece(piece).ok());
    sends[0]->piece_sent();
    EXPECT_EQ(device().count(Call::copy), copies);
  }
  ASSERT_EQ(device().synchronize(cuda::default_stream), cuda::Code::ok);
  EXPECT_TRUE(sends[2]->next_piece(piece).ok());
  EXPECT_TRUE(sends[3]->next_piece(piece).ok());
  EXPECT_EQ(sends[4]->next_piece(piece).code(), Code::again);
  for (const int i : {0, 2, 3, 4}) sends[i]->release();
}

// To ask takes the host longer than to tell a copy, and a stream makes its copies in order.
TEST_F(TransferTest, AsksOnceForAllThatHaveCome) {
  constexpr std::size_t bytes = 64 << 10;
  std::byte* const memory = memory_with(content(bytes));
  std::vector<Transfer*> sends;
  const auto begin_sends = [&](int count) {
    for (; count > 0; --count) {
      sends.push_back(&begin(memory, bytes));
      sends.back()->begin_reading(bytes, 1);
    }
  };
  std::span<const std::byte> piece;
  const auto has_come = [&](std::size_t i) { return sends[i]->next_piece(piece).ok(); };
  begin_sends(16);
  ASSERT_EQ(device().synchronize(cuda::default_stream), cuda::Code::ok);
  device().hold(cuda::default_stream);
  begin_sends(8);
  for (std::size_t i = 0; i < 16; ++i) EXPECT_TRUE(has_come(i)) << i;
  EXPECT_EQ(device().count(Call::query), 1U + 2 * 15) << "of each, and then whether all 24 have come";
  EXPECT_FALSE(has_come(16));
  EXPECT_FALSE(has_come(23));
  sends[23]->release();  // its event tells of something else now
  sends.pop_back();
  device().let_go(cuda::default_stream);
  ASSERT_EQ(device().synchronize(cuda::default_stream), cuda::Code::ok);
  EXPECT_TRUE(has_come(16));
  begin_sends(1);
  ASSERT_EQ(device().synchronize(cuda::default_stream), cuda::Code::ok);
  EXPECT_TRUE(has_come(17));
  const std::uint64_t before = device().count(Call::query);
  for (std::size_t i = 18; i < 23; ++i) EXPECT_TRUE(has_come(i)) << i;
  EXPECT_EQ(device().count(Call::query) - before, 2U);
  for (Transfer* send : sends) send->release();
}

// Its lane is free then, whatever had come there.
TEST_F(TransferTest, ASlowStreamIsNotTakenForTheOneBefore) {
  constexpr std::size_t bytes = 64 << 10;
  std::byte* const memory = memory_with(content(bytes));
  Transfer& before = begin(memory, bytes);
  EXPECT_EQ(read_all(before, bytes), content(bytes));
  before.release();
  const cuda::Stream slow = own_.stream();
  device().hold(slow);
  Transfer& send = begin(memory, bytes, slow);
  send.begin_reading(bytes, 1);
  std::span<const std::byte> piece;
  EXPECT_EQ(send.next_piece(piece).code(), Code::again);
  device().let_go(slow);
  send.release();
}

// Its blocks serve again, but not before its copies have ended. The caller may have no device entered.
TEST_F(TransferTest, OneThatEndsWhileItIsReadGivesItsBlocksBackAfterThat) {
  constexpr std::size_t bytes = cuda::PinnedPool::medium_bytes;
  constexpr int blocks = cuda::PinnedPool::large_bytes / bytes;  // of one allocation
  std::byte* const memory = memory_with(content(bytes));
  Transfer& send = begin(memory, bytes);
  device().hold(cuda::default_stream);
  send.begin_reading(bytes, 1);
  device().leave_device(nullptr);
  send.release();
  void* none = nullptr;
  ASSERT_EQ(device().enter_device(0, none), cuda::Code::ok);
  std::vector<Transfer*> receives;
  const auto take = [&](int count) {
    for (; count > 0; --count) {
      receives.push_back(&begin(memory, bytes));
      ASSERT_NE(receives.back()->landing_place(bytes), nullptr);
    }
  };
  take(blocks - 1);
  EXPECT_EQ(device().count(Call::allocate_pinned), 1U);
  take(1);
  EXPECT_EQ(device().count(Call::allocate_pinned), 2U) << "the block that is read is in use";
  device().let_go(cuda::default_stream);
  ASSERT_EQ(device().synchronize(cuda::default_stream), cuda::Code::ok);
  take(blocks);
  EXPECT_EQ(device().count(Call::allocate_pinned), 2U) << "it is free again";
  for (Transfer* receive : receives) receive->release();
}

// One that has failed may be held by its caller for long. Its memory is its caller's, and others go on.
TEST_F(TransferTest, OneThatHasEndedIsReadNoMore) {
  constexpr std::size_t bytes = 8 << 20;
  std::byte* const memory = memory_with(content(bytes));
  Transfer &ended = begin(memory, bytes), &other = begin(memory, bytes);
  device().hold(cuda::default_stream);
  ended.begin_reading(bytes, 1);
  other.begin_reading(bytes, 1);
  EXPECT_EQ(device().count(Call::copy), 2U);
  ended.end_reading();
  ended.end_reading();  // once more is harmless
  std::span<const std::byte> piece;
  EXPECT_EQ(other.next_piece(piece).code(), Code::again);
  EXPECT_EQ(device().count(Call::copy), 4U) << "of the other one";
  device().let_go(cuda::default_stream);
  ASSERT_EQ(device().synchronize(cuda::default_stream), cuda::Code::ok);
  EXPECT_TRUE(other.next_piece(piece).ok());
  other.release();
  EXPECT_EQ(device().count(Call::copy), 4U);
  ended.release();
}

// Each receiver may be slow, and each stream may wait for something.
TEST_F(TransferTest, AFullLaneHoldsUpNoOther) {
  constexpr std::size_t bytes = 3 << 20;
  const Bytes all = content(bytes);
  std::byte* const memory = memory_with(all);
  cuda::Stream held = own_.stream();
  device().hold(held);
  std::vector<Transfer*> full;
  for (int i = 0; i < 2; ++i) {
    for (const cuda::Stream stream : {held, cuda::default_stream}) {
      full.push_back(&begin(memory, bytes, stream));
      full.back()->begin_reading(bytes, 1);
    }
  }
  std::span<const std::byte> piece;
  EXPECT_EQ(full[2]->next_piece(piece).code(), Code::again);
  EXPECT_EQ(full[3]->next_piece(piece).code(), Code::again);
  Transfer& to_another = begin(memory, bytes);
  EXPECT_EQ(read_all(to_another, bytes, 2), all);
  to_another.release();
  device().let_go(held);
  for (Transfer* transfer : full) transfer->release();
  EXPECT_EQ(device().destroy_stream(held), cuda::Code::ok);
}

TEST_F(TransferTest, OneWithoutRoomGoesOnWhenOthersHaveEnded) {
  constexpr std::size_t bytes = 3 << 20;
  std::vector<Transfer*> transfers;
  const Bytes all = content(bytes);
  std::byte* const memory = memory_with(all);
  device().hold(cuda::default_stream);
  for (int receiver = 0; receiver < 32; ++receiver) {  // 64 MiB of blocks are filled
    transfers.push_back(&begin(memory, bytes));
    transfers.back()->begin_reading(bytes, receiver);
  }
  Transfer& late = begin(memory, bytes);
  late.begin_reading(bytes, 32);
  std::span<const std::byte> piece;
  EXPECT_EQ(late.next_piece(piece).code(), Code::again);
  device().let_go(cuda::default_stream);
  for (Transfer* transfer : transfers) transfer->release();
  Bytes rest;
  while (rest.size() < bytes) {
    const base::Status status = late.next_piece(piece);
    if (status.code() == Code::again) continue;
    ASSERT_TRUE(status.ok());
    rest.insert(rest.end(), piece.begin(), piece.end());
    late.piece_sent();
  }
  EXPECT_EQ(rest, all);
  late.release();
}

TEST_F(TransferTest, WithoutAnyPinnedMemoryNothingIsRead) {
  Transfer& transfer = begin(allocate(64), 64);
  device().fail_next(Call::allocate_pinned, cuda::Code::out_of_memory, 100);
  transfer.begin_reading(64, 1);
  std::span<const std::byte> piece;
  EXPECT_EQ(transfer.next_piece(piece), base::Status(Code::device_failed, 2));
  transfer.release();
}

TEST_F(TransferTest, ADeviceThatFailsIsTold) {
  for (const Call call : {Call::copy, Call::record}) {
    Transfer& transfer = begin(allocate(64), 64);
    device().fail_next(call, cuda::Code::illegal_address, 4);
    transfer.begin_reading(64, 1);
    std::span<const std::byte> piece;
    EXPECT_EQ(transfer.next_piece(piece), base::Status(Code::device_failed, 700));
    transfer.release();
  }
}

TEST_F(TransferTest, WritesFromAnyMemoryAndForgetsIt) {
  constexpr std::size_t bytes = (2 << 20) + 77;
  std::byte* const memory = allocate(bytes);
  Transfer& transfer = begin(memory, bytes);
  const Bytes all = content(bytes);
  device().hold(cuda::default_stream);
  Bytes passing = all;
  EXPECT_TRUE(transfer.write(0, std::span(passing).first(1000)).ok());
  EXPECT_TRUE(transfer.write(1000, std::span(passing).subspan(1000)).ok());
  std::fill(passing.begin(), passing.end(), std::byte{0});  // it may be reused at once
  device().let_go(cuda::default_stream);
  EXPECT_EQ(found(memory, bytes), all);
  EXPECT_EQ(device().waiting_copies(), 0U);
  transfer.release();
}

TEST_F(TransferTest, WritesWithoutPinnedMemoryAsTheDriverDoes) {
  std::byte* const memory = allocate(5000);
  Transfer& transfer = begin(memory, 5000);
  device().fail_next(Call::allocate_pinned, cuda::Code::out_of_memory, 100);
  EXPECT_EQ(transfer.landing_place(5000), nullptr);
  EXPECT_TRUE(transfer.write(0, content(5000)).ok());
  EXPECT_EQ(found(memory, 5000), content(5000));
  transfer.release();
}

TEST_F(TransferTest, WhatHasLandedIsCopied) {
  std::byte* const memory = allocate(5000);
  Transfer& transfer = begin(memory, 5000);
  EXPECT_EQ(transfer.landing_place(cuda::PinnedPool::large_bytes + 1), nullptr) << "no packet is so large";
  std::byte* place = transfer.landing_place(2000);
  ASSERT_NE(place, nullptr);
  transfer.abandon(place);
  const Bytes all = content(2000);
  place = transfer.landing_place(2000);
  ASSERT_NE(place, nullptr);
  std::copy(all.begin(), all.end(), place);
  EXPECT_TRUE(transfer.landed(place, 3000, 2000).ok());
  EXPECT_EQ(found(memory + 3000, 2000), all);
  transfer.release();
}

TEST_F(TransferTest, AnotherStreamFollowsIt) {
  cuda::Stream own = own_.stream(), other = own_.stream();
  std::byte* const memory = allocate(100);
  Transfer& transfer = begin(memory, 100, own);
  device().hold(own);
  EXPECT_TRUE(transfer.write(0, content(100)).ok());
  EXPECT_EQ(transfer.order(own), cuda::Code::ok);
  EXPECT_EQ(transfer.order(other), cuda::Code::ok);
  std::byte* const copy = allocate(100);
  EXPECT_EQ(device().copy(copy, memory, 100, other), cuda::Code::ok);
  transfer.release();
  device().let_go(own);
  EXPECT_EQ(device().synchronize(other), cuda::Code::ok);
  const std::byte* const seen = device().reach(copy, 100);
  EXPECT_EQ(Bytes(seen, seen + 100), content(100));
  EXPECT_EQ(device().destroy_stream(own), cuda::Code::ok);
  EXPECT_EQ(device().destroy_stream(other), cuda::Code::ok);
}

// Both ways in, with what they copy from, and the driver's own where there is no pinned memory.
TEST_F(TransferTest, WhatDoesNotReachTheDeviceIsTold) {
  std::byte* const memory = allocate(5000);
  Transfer& transfer = begin(memory, 5000);
  const base::Status lost(Code::device_failed, 700);
  for (const Call call : {Call::copy, Call::record}) {
    device().fail_next(call, cuda::Code::illegal_address);
    EXPECT_EQ(transfer.write(0, content(5000)), lost);
    std::byte* const place = transfer.landing_place(5000);
    ASSERT_NE(place, nullptr);
    device().fail_next(call, cuda::Code::illegal_address);
    EXPECT_EQ(transfer.landed(place, 0, 5000), lost);
  }
  const auto allocations = device().count(Call::allocate_pinned);
  EXPECT_TRUE(transfer.write(0, content(5000)).ok());
  EXPECT_EQ(device().count(Call::allocate_pinned), allocations) << "the blocks are there still";
  EXPECT_EQ(found(memory, 5000), content(5000));
  transfer.release();
}

TEST_F(TransferTest, WithoutPinnedMemoryAFailureIsToldToo) {
  Transfer& transfer = begin(allocate(5000), 5000);
  device().fail_next(Call::allocate_pinned, cuda::Code::out_of_memory, 100);
  device().fail_next(Call::copy, cuda::Code::illegal_address);
  EXPECT_EQ(transfer.write(0, content(5000)), base::Status(Code::device_failed, 700));
  transfer.release();
}

TEST_F(TransferTest, AStreamThatCannotBeOrderedIsTold) {
  cuda::Stream other = own_.stream();
  std::byte* const memory = allocate(100);
  Transfer& transfer = begin(memory, 100);
  device().hold(cuda::default_stream);
  EXPECT_TRUE(transfer.write(0, content(100)).ok());
  // In the order in which they are needed; the write has its event still.
  for (const Call call : {Call::create_event, Call::record, Call::wait}) {
    device().fail_next(call, cuda::Code::illegal_address);
    EXPECT_EQ(transfer.order(other), cuda::Code::illegal_address) << static_cast<int>(call);
    EXPECT_EQ(device().pending(other), 0U);
  }
  EXPECT_EQ(device().count(Call::create_event), 3U) << "the event was kept";
  EXPECT_EQ(transfer.order(other), cuda::Code::ok);
  EXPECT_EQ(device().pending(other), 1U);
  device().let_go(cuda::default_stream);
  transfer.release();
  EXPECT_EQ(device().synchronize(other), cuda::Code::ok);
  EXPECT_EQ(device().destroy_stream(other), cuda::Code::ok);
}

}  // namespace
}  // namespace parley::transport::cuda_ipc
