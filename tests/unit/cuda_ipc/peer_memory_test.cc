// What a mover makes of memory that another process has shown: when it is opened, how often, and what is done
// where that fails.
#include <memory>
#include <string>
#include <utility>

#include "tests/unit/cuda_ipc/owner.h"
#include "tests/unit/cuda_ipc/rank.h"

namespace parley::transport::cuda_ipc {
namespace {

using base::Code;
using cuda::testing::Call;

// One end of a link to the owner.
class Link {
 public:
  explicit Link(Port& port) : mover_(port, &ledger_, IpcMover::Copies::by_us) {}

  template <typename What>
  bool tell(const What& what) {
    return mover_.take_note(std::as_bytes(std::span(&what, 1)));
  }
  Code pull(Transfer& into, std::uint32_t memory, std::size_t bytes = Owner::bytes) {
    const Key key{.memory = memory, .ticket_word = 1};
    RemoteKey remote;
    std::memcpy(remote.bytes.data(), &key, sizeof(key));
    return mover_.pull_to_device(remote, into, bytes).code();
  }
  void end() {
    mover_.end();
    EXPECT_TRUE(mover_.look_after_end());
  }

 private:
  Ledger ledger_;
  IpcMover mover_;
};

class PeerMemory : public Rank {
 protected:
  ~PeerMemory() override { device().synchronize(cuda::default_stream); }

  void show(std::initializer_list<std::uint32_t> numbers) {
    for (const std::uint32_t number : numbers) EXPECT_TRUE(link_->tell(owner_.note(number - 1, number)));
  }
  // Reads the whole of it by the device. Nothing: it goes by way of the host.
  std::string pull(std::uint32_t number) { return pull(*link_, number); }
  std::string pull(Link& link, std::uint32_t number) {
    const auto copies = device().count(Call::copy);
    const Code code = begin_pull(link, number);
    EXPECT_EQ(device().count(Call::copy) - copies, code == Code::ok ? 1U : 0U);
    if (code != Code::ok) return {};
    EXPECT_EQ(device().synchronize(cuda::default_stream), cuda::Code::ok);
    return own_.text(target_, Owner::bytes);
  }
  Code begin_pull(Link& link, std::uint32_t number) {
    if (target_ == nullptr) target_ = allocate(Owner::bytes);
    Transfer& into = begin(target_, Owner::bytes);
    const Code code = link.pull(into, number);
    into.release();
    return code;
  }
  // What has been asked of the driver so far.
  std::uint64_t tries() { return device().count(Call::import_memory); }
  static std::string all(char letter) { return std::string(Owner::bytes, letter); }

  Owner owner_{3};
  std::byte* target_ = nullptr;
  std::unique_ptr<Link> link_ = std::make_unique<Link>(*port_);
};

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
