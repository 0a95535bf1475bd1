// The two ends of a link within a process: by addresses, and without a process that could die.
#include <cstdint>
#include <memory>

#include "tests/unit/cuda_ipc/rank.h"
#include "transport/inproc/device_offers.h"

namespace parley::transport::cuda_ipc {
namespace {

using base::Code;
using cuda::testing::Call;

class WithinProcess : public Rank {
 protected:
  ~WithinProcess() override { EXPECT_EQ(device().synchronize(cuda::default_stream), cuda::Code::ok); }

  // Our message of 8 bytes, whose copy waits in `receives`, and its receive.
  struct Held {
    Transfer& from;
    Transfer& to;
  };
  Held send_into_held(cuda::Stream receives) {
    Transfer &from = begin(allocate(8), 8), &to = begin(allocate(8), 8, receives);
    device().hold(receives);
    const auto exposure = sender_.expose_device(from);
    EXPECT_TRUE(receiver_.pull_to_device(exposure.value().key, to, 8).ok());
    sender_.note_pulled(exposure->handle);
    return {from, to};
  }

  std::shared_ptr<DeviceOffers> offers_ = std::make_shared<DeviceOffers>();
  InprocLedger senders_{offers_, 0, 1}, receivers_{offers_, 1, 0};
  IpcMover sender_{*port_, senders_, IpcMover::Copies::by_us};
  IpcMover receiver_{*port_, receivers_, IpcMover::Copies::by_peer};
};

TEST_F(WithinProcess, IsOneCopyOfWhichNothingIsTold) {
  std::byte* const memory = allocate(8);
  std::memcpy(device().reach(memory, 8), "Parley!", 8);
  Transfer &from = begin(memory, 8), &to = begin(allocate(8), 8);
  const auto exposure = sender_.expose_device(from);
  ASSERT_TRUE(exposure);
  EXPECT_FALSE(receiver_.leaves_copy_to_peer(exposure->key, to)) << "it is all the same who copies";
  EXPECT_TRUE(receiver_.pull_to_device(exposure->key, to, 8).ok());
  EXPECT_FALSE(sender_.withdraw(exposure->handle)) << "it was taken";
  sender_.note_pulled(exposure->handle);
  from.release();
  to.release();
  EXPECT_EQ(device().synchronize(cuda::default_stream), cuda::Code::ok);
  EXPECT_STREQ(reinterpret_cast<const char*>(device().reach(memories_.back(), 8)), "Parley!");
  EXPECT_TRUE(sender_.next_note().empty());
  EXPECT_EQ(device().count(Call::copy), 1U);
  EXPECT_EQ(device().count(Call::export_memory), 0U);
}

TEST_F(WithinProcess, WhatWasWithdrawnIsNotCopied) {
  Transfer &from = begin(allocate(8), 8), &to = begin(allocate(8), 8);
  const auto exposure = sender_.expose_device(from);
  ASSERT_TRUE(exposure);
  EXPECT_TRUE(sender_.withdraw(exposure->handle));
  EXPECT_EQ(receiver_.pull_to_device(exposure->key, to, 8).code(), Code::cancelled);
  from.release();
  to.release();
  EXPECT_EQ(device().count(Call::copy), 0U);
}

// Its copy reads our memory still, whatever has become of the link.
TEST_F(WithinProcess, AReceiverThatIsGoneAsARankIsWaitedFor) {
  const cuda::Stream receives = own_.stream();
  const auto [from, to] = send_into_held(receives);
  sender_.release_waiters();
  from.release();
  sender_.end();
  EXPECT_FALSE(sender_.look_after_end());
  EXPECT_NE(device().pending(cuda::default_stream), 0U) << "what is written there next comes after the copy";
  device().let_go(receives);
  EXPECT_EQ(device().synchronize(receives), cuda::Code::ok);
  EXPECT_EQ(device().synchronize(cuda::default_stream), cuda::Code::ok);
  EXPECT_TRUE(sender_.look_after_end());
  to.release();
}

// Who leaves has waited long enough.
TEST_F(WithinProcess, WhoGivesUpWaitingWaitsForNobody) {
  const cuda::Stream receives = own_.stream();
  const auto [from, to] = send_into_held(receives);
  from.release();
  sender_.give_up_waiting();
  EXPECT_EQ(device().synchronize(cuda::default_stream), cuda::Code::ok);
  device().let_go(receives);
  EXPECT_EQ(device().synchronize(receives), cuda::Code::ok);
  to.release();
}

// CUDA lets another device of the process read what was allocated plainly, and no pool.
TEST_F(WithinProcess, APoolOfAnotherDeviceGoesByTheLink) {
  std::byte *pool = nullptr, *plain = nullptr;
  {
    const cuda::DeviceScope scope(device(), 1);
    ASSERT_EQ(device().allocate_pool_memory(8, pool), cuda::Code::ok);
    ASSERT_EQ(device().allocate(8, plain), cuda::Code::ok);
  }
  for (std::byte* const memory : {pool, plain}) {
    Transfer &from = *port_->begin(1, cuda::default_stream, memory, 8), &to = begin(allocate(8), 8);
    const auto exposure = sender_.expose_device(from);
    ASSERT_TRUE(exposure);
    const base::Status status = receiver_.pull_to_device(exposure->key, to, 8);
    EXPECT_EQ(status.code(), memory == pool ? Code::unreachable : Code::ok);
    EXPECT_EQ(sender_.withdraw(exposure->handle), memory == pool) << "it still stands";
    if (memory == plain) sender_.note_pulled(exposure->handle);
    from.release();
    to.release();
  }
  EXPECT_EQ(device().count(Call::reach_device), 1U) << "so that copies take the straight way";
  const cuda::DeviceScope scope(device(), 1);
  EXPECT_EQ(device().synchronize(cuda::default_stream), cuda::Code::ok);
  for (std::byte* const memory : {pool, plain}) EXPECT_EQ(device().free(memory), cuda::Code::ok);
}

TEST_F(WithinProcess, ASlotThatCannotBeIsUnreachable) {
  Transfer& to = begin(allocate(8), 8);
  const Key key{.slot = Key::no_slot};
  RemoteKey remote;
  std::memcpy(remote.bytes.data(), &key, sizeof(key));
  EXPECT_EQ(receiver_.pull_to_device(remote, to, 8).code(), Code::unreachable);
  to.release();
}

}  // namespace
}  // namespace parley::transport::cuda_ipc
