// What streams tell each other by words, and the host by itself.
#include "transport/cuda_ipc/semaphores.h"

#include <array>
#include <atomic>
#include <memory>

#include "tests/unit/cuda_ipc/rank.h"

namespace parley::transport::cuda_ipc {
namespace {

using cuda::testing::Call;

class SemaphoresTest : public Rank {
 protected:
  SemaphoresTest() { EXPECT_TRUE(semaphores_.open(0)); }
  // Of the default stream.
  void finish() { EXPECT_EQ(device().synchronize(cuda::default_stream), cuda::Code::ok); }

  std::shared_ptr<std::byte> page_ = Ledger().own_words();
  Semaphores semaphores_{*port_, page_};
};

TEST_F(SemaphoresTest, HoldStreamsBackUntilTheyAreGiven) {
  const cuda::Stream first = own_.stream(), second = own_.stream();
  device().hold(first);
  ASSERT_EQ(semaphores_.signal(first, 3), cuda::Code::ok);
  ASSERT_EQ(semaphores_.await(second, 4), cuda::Code::ok) << "another one, never told";
  EXPECT_EQ(device().pending(second), 0U);
  ASSERT_EQ(semaphores_.await(second, 3), cuda::Code::ok);
  EXPECT_EQ(device().pending(second), 1U);
  device().let_go(first);
  EXPECT_EQ(device().synchronize(second), cuda::Code::ok);
  EXPECT_EQ(device().synchronize(first), cuda::Code::ok);
  ASSERT_EQ(semaphores_.await(second, 3), cuda::Code::ok) << "given already: the stream is told nothing";
  EXPECT_EQ(device().count(Call::wait_word), 1U);
}

TEST_F(SemaphoresTest, AreGivenAtOnceByAStreamWithoutWork) {
  ASSERT_EQ(semaphores_.signal_early(cuda::default_stream, 0), cuda::Code::ok);
  EXPECT_EQ(device().count(Call::write_word), 0U);
  device().hold(cuda::default_stream);
  ASSERT_EQ(device().fill(allocate(1), 1, 1, cuda::default_stream), cuda::Code::ok);
  ASSERT_EQ(semaphores_.signal_early(cuda::default_stream, 0), cuda::Code::ok);
  EXPECT_EQ(device().count(Call::write_word), 1U);
  EXPECT_FALSE(semaphores_.look_briefly(0));
  device().let_go(cuda::default_stream);
  finish();
  EXPECT_TRUE(semaphores_.look_briefly(0));
}

// Its streams may give signals after its end was heard of, and words go back.
TEST_F(SemaphoresTest, AreReleasedAgainWhereTheirPeerIsGone) {
  const cuda::Stream lost = own_.stream(), waits = own_.stream(), late = own_.stream();
  device().hold(lost);
  for (int i = 0; i < 3; ++i) ASSERT_EQ(semaphores_.signal(lost, 7), cuda::Code::ok);
  device().hold(waits);
  ASSERT_EQ(semaphores_.await(waits, 7), cuda::Code::ok);
  semaphores_.release_all();
  auto& words = *reinterpret_cast<std::array<std::atomic<std::uint32_t>, 2>*>(page_.get() + 7 * 8);
  EXPECT_EQ(words[0], 3U);
  EXPECT_EQ(words[1], 3U);
  words[1] = 1;  // of the first one's
  device().let_go(waits);
  EXPECT_EQ(device().pending(waits), 1U);
  semaphores_.release_all();
  EXPECT_EQ(device().synchronize(waits), cuda::Code::ok);
  words[1] = 2;
  ASSERT_EQ(semaphores_.await(late, 7), cuda::Code::ok) << "nobody waits for it any more";
  EXPECT_EQ(device().pending(late), 0U);
  device().let_go(lost);
  EXPECT_EQ(device().synchronize(lost), cuda::Code::ok);
}

// A promise is counted before an offer is taken, for its owner may look for the end of the copy at once.
TEST_F(SemaphoresTest, ArePromisedBeforeTheyAreGiven) {
  semaphores_.promise(2);
  EXPECT_FALSE(semaphores_.is_reached(2));
  semaphores_.take_back(2);
  EXPECT_TRUE(semaphores_.is_reached(2));
  semaphores_.promise(2);
  ASSERT_EQ(semaphores_.keep_promise(cuda::default_stream, 2), cuda::Code::ok);
  finish();
  EXPECT_TRUE(semaphores_.is_reached(2));
  semaphores_.promise(2);
  semaphores_.give(2);
  EXPECT_TRUE(semaphores_.is_reached(2));
}

// Both ends of a link within a process have the same page.
TEST_F(SemaphoresTest, AreRegisteredOnceInAProcess) {
  auto other = std::make_unique<Semaphores>(*port_, page_);
  EXPECT_TRUE(other->open(0));
  EXPECT_EQ(device().count(Call::register_host), 1U);
  ASSERT_EQ(other->signal(cuda::default_stream, 1), cuda::Code::ok);
  finish();
  EXPECT_TRUE(semaphores_.is_reached(1));
  other.reset();
  EXPECT_EQ(device().live_registrations(), 1U) << "one end has gone";
}

TEST_F(SemaphoresTest, AreRefusedOnceWhereWordsCannotBeShared) {
  Semaphores refused(*port_, Ledger().own_words());
  device().fail_next(Call::register_host, cuda::Code::not_supported);
  EXPECT_FALSE(refused.open(0));
  EXPECT_FALSE(refused.open(0));
  EXPECT_EQ(device().count(Call::register_host), 2U) << "and those of the fixture";
}

}  // namespace
}  // namespace parley::transport::cuda_ipc
