// What a mover makes of memory that another process has shown: when it is opened, how often, and what is done
// where that fails.
#include <memory>

#include "tests/unit/cuda_ipc/peer_memory.h"

namespace parley::transport::cuda_ipc {
namespace {

using base::Code;
using cuda::testing::Call;

TEST_F(PeerMemory, IsOpenedOnceAndClosedWhenItIsForgotten) {
  show({1, 2});
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(pull(1), all('a'));
    EXPECT_EQ(pull(2), all('b'));
  }
  EXPECT_EQ(tries(), 2U);
  EXPECT_TRUE(link_->tell(ForgetNote{.number = 1}));
  EXPECT_EQ(device().open_imports(), 1U);
  EXPECT_EQ(pull(1), "");
  EXPECT_EQ(pull(2), all('b'));
}

TEST_F(PeerMemory, ThatIsSmallerThanThePeerSaysIsNotUsed) {
  MemoryNote note = owner_.note(0, 1);
  note.bytes *= 2;
  EXPECT_TRUE(link_->tell(note));
  EXPECT_EQ(pull(1), "");
  EXPECT_EQ(device().open_imports(), 0U);
}

// What nobody needs any more is closed, and then there is room.
TEST_F(PeerMemory, WhereThereIsNoRoomWhatIsNotUsedIsClosed) {
  for (const cuda::Code full : {cuda::Code::out_of_memory, cuda::Code::already_mapped}) {
    link_ = std::make_unique<Link>(*port_);
    show({1, 2});
    EXPECT_EQ(pull(1), all('a'));
    const auto before = tries();
    device().fail_next(Call::import_memory, full);
    EXPECT_EQ(pull(2), all('b'));
    EXPECT_EQ(tries() - before, 2U);
    EXPECT_EQ(device().open_imports(), 1U) << "the first one is closed";
    EXPECT_EQ(pull(1), all('a')) << "opened again";
  }
}

TEST_F(PeerMemory, WhatIsForgottenIsClosedFirst) {
  show({1, 2, 3});
  EXPECT_EQ(pull(1), all('a'));
  device().hold(cuda::default_stream);
  EXPECT_EQ(begin_pull(*link_, 2), Code::ok);
  EXPECT_TRUE(link_->tell(ForgetNote{.number = 2}));
  EXPECT_EQ(device().open_imports(), 2U) << "a copy is to read it still";
  device().let_go(cuda::default_stream);
  ASSERT_EQ(device().synchronize(cuda::default_stream), cuda::Code::ok);
  device().fail_next(Call::import_memory, cuda::Code::already_mapped);
  EXPECT_EQ(pull(3), all('c'));
  const auto before = tries();
  EXPECT_EQ(pull(1), all('a'));
  EXPECT_EQ(tries(), before) << "it stayed open";
  EXPECT_EQ(device().open_imports(), 2U);
}

TEST_F(PeerMemory, ThatIsInUseIsNotClosedForAnother) {
  show({1, 2});
  device().hold(cuda::default_stream);
  EXPECT_EQ(begin_pull(*link_, 1), Code::ok);
  device().fail_next(Call::import_memory, cuda::Code::out_of_memory);
  EXPECT_EQ(begin_pull(*link_, 2), Code::unreachable);
  EXPECT_EQ(device().open_imports(), 1U);
  device().let_go(cuda::default_stream);
  EXPECT_EQ(device().synchronize(cuda::default_stream), cuda::Code::ok);
  EXPECT_EQ(own_.text(target_, Owner::bytes), all('a'));
}

// A failure that another one's end may mend is tried again then, and not for each message before.
TEST_F(PeerMemory, ForWhichThereWasNoRoomIsTriedAgainWhenSomethingHasBeenClosed) {
  for (const cuda::Code full : {cuda::Code::out_of_memory, cuda::Code::already_mapped}) {
    link_ = std::make_unique<Link>(*port_);
    show({1, 2});
    device().fail_next(Call::import_memory, full);
    EXPECT_EQ(pull(2), "");
    EXPECT_EQ(pull(1), all('a'));
    const auto before = tries();
    EXPECT_EQ(pull(2), "");
    EXPECT_EQ(tries(), before) << "nothing has changed";
    EXPECT_TRUE(link_->tell(ForgetNote{.number = 1}));
    EXPECT_EQ(pull(2), all('b'));
  }
}

TEST_F(PeerMemory, ThatCannotBeOpenedIsNotTriedAgain) {
  for (const cuda::Code refusal :
       {cuda::Code::map_failed, cuda::Code::not_supported, cuda::Code::invalid_context}) {
    link_ = std::make_unique<Link>(*port_);
    show({1, 2});
    EXPECT_EQ(pull(1), all('a'));
    device().fail_next(Call::import_memory, refusal);
    EXPECT_EQ(pull(2), "");
    EXPECT_EQ(device().open_imports(), 1U) << "no other one stands in its way";
    EXPECT_TRUE(link_->tell(ForgetNote{.number = 1}));
    const auto before = tries();
    EXPECT_EQ(pull(2), "");
    EXPECT_EQ(tries(), before);
    EXPECT_TRUE(link_->tell(ForgetNote{.number = 2}));
    EXPECT_TRUE(link_->tell(owner_.note(1, 3)));
    EXPECT_EQ(pull(3), all('b')) << "told anew";
  }
}

// Its owner has it on device 0. Where no way leads there from the device that copies, it is opened for its
// own.
TEST_F(PeerMemory, IsOpenedForTheDeviceThatCopiesIfThatCanBe) {
  for (const std::uint64_t staged : {0, 1}) {
    link_ = std::make_unique<Link>(*port_);
    show({1});
    if (staged != 0) device().fail_next(Call::import_memory, cuda::Code::not_supported);
    const cuda::DeviceScope scope(device(), 1);
    std::byte* const target = own_.memory(Owner::bytes);
    Transfer& into = *port_->begin(1, cuda::default_stream, target, Owner::bytes);
    EXPECT_EQ(link_->copy(Transfer::Direction::from_peer, into, 1).code(), Code::ok);
    into.release();
    EXPECT_EQ(device().synchronize(cuda::default_stream), cuda::Code::ok);
    EXPECT_EQ(own_.text(target, Owner::bytes), all('a'));
    EXPECT_EQ(device().staged_copies(), staged);
    EXPECT_EQ(device().free(target), cuda::Code::ok);
  }
}

// A process opens an allocation once, through however many links to its owner it needs it.
TEST_F(PeerMemory, IsSharedByAllLinksToItsOwner) {
  Link other(*port_);
  show({1});
  EXPECT_TRUE(other.tell(owner_.note(0, 7)));
  EXPECT_EQ(pull(1), all('a'));
  EXPECT_EQ(pull(other, 7), all('a'));
  EXPECT_EQ(tries(), 1U);
  link_->end();
  EXPECT_EQ(device().open_imports(), 1U);
  EXPECT_EQ(pull(other, 7), all('a'));
  EXPECT_EQ(tries(), 1U);
  other.end();
  EXPECT_EQ(device().open_imports(), 0U);
  EXPECT_EQ(device().count(Call::close_memory), 1U);
}

// An allocation that was forgotten for others, and is told anew while a copy still reads it.
TEST_F(PeerMemory, ThatIsToldAnewIsOpenedNoSecondTime) {
  show({1});
  device().hold(cuda::default_stream);
  EXPECT_EQ(begin_pull(*link_, 1), Code::ok);
  EXPECT_TRUE(link_->tell(ForgetNote{.number = 1}));
  EXPECT_TRUE(link_->tell(owner_.note(0, 2)));
  EXPECT_EQ(begin_pull(*link_, 2), Code::ok);
  EXPECT_EQ(tries(), 1U);
  device().let_go(cuda::default_stream);
  EXPECT_EQ(pull(2), all('a'));
  EXPECT_TRUE(link_->tell(ForgetNote{.number = 2}));
  EXPECT_EQ(device().open_imports(), 0U);
}

}  // namespace
}  // namespace parley::transport::cuda_ipc
