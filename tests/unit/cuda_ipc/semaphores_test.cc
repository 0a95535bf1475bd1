// What streams tell each other by words, and the host by itself.
#include "transport/cuda_ipc/semaphores.h"

#include "tests/unit/cuda_ipc/rank.h"

namespace parley::transport::cuda_ipc {
namespace {

using cuda::testing::Call;

class SemaphoresTest : public Rank {
 protected:
  SemaphoresTest() { EXPECT_TRUE(semaphores_.open()); }
  // Of the default stream.
  void finish() { EXPECT_EQ(device().synchronize(cuda::default_stream), cuda::Code::ok); }

  Semaphores semaphores_{*port_};
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

TEST_F(SemaphoresTest, AreReleasedWhereTheirProcessHasDied) {
  const cuda::Stream lost = own_.stream(), waits = own_.stream();
  device().hold(lost);
  ASSERT_EQ(semaphores_.signal(lost, 7), cuda::Code::ok);
  ASSERT_EQ(semaphores_.await(waits, 7), cuda::Code::ok);
  semaphores_.release_all();
  EXPECT_EQ(device().synchronize(waits), cuda::Code::ok);
  device().let_go(lost);
  EXPECT_EQ(device().synchronize(lost), cuda::Code::ok);
}

TEST_F(SemaphoresTest, AreRefusedOnceWhereWordsCannotBeShared) {
  Semaphores refused(*port_);
  device().fail_next(Call::register_host, cuda::Code::not_supported);
  EXPECT_FALSE(refused.open());
  EXPECT_FALSE(refused.open());
  EXPECT_EQ(device().count(Call::register_host), 2U) << "and those of the fixture";
}

}  // namespace
}  // namespace parley::transport::cuda_ipc
