// What becomes of an offer of a peer when it is taken: it may have been withdrawn, and the copy may fail.
#include "tests/unit/cuda_ipc/peer_memory.h"

namespace parley::transport::cuda_ipc {
namespace {

using base::Code;
using cuda::testing::Call;

class TakenOffers : public PeerMemory {
 protected:
  static constexpr auto both_ways = {Transfer::Direction::from_peer, Transfer::Direction::to_peer};

  TakenOffers() { show({1}); }

  base::Status copy(Transfer::Direction way, std::uint32_t ticket = 1) {
    Transfer& transfer = begin(allocate(Owner::bytes), Owner::bytes);
    const base::Status status = link_->copy(way, transfer, 1, ticket);
    transfer.release();
    return status;
  }
  // Whether the peer's streams go on that were told to wait for our copy.
  bool is_peer_released() { return link_->of_peer().is_reached(finished_of(0)); }
};

TEST_F(TakenOffers, ThatWereWithdrawnAtTheSameTimeAreNotCopied) {
  for (const auto way : both_ways) {
    const auto copies = device().count(Call::copy);
    EXPECT_EQ(copy(way, 2).code(), Code::cancelled);
    EXPECT_EQ(device().count(Call::copy), copies);
    EXPECT_TRUE(is_peer_released()) << "nobody is to wait for what was promised";
    device().hold(cuda::default_stream);
    EXPECT_TRUE(copy(way).ok());
    EXPECT_FALSE(is_peer_released()) << "the slot's next offer is waited for";
    device().let_go(cuda::default_stream);
    EXPECT_EQ(device().synchronize(cuda::default_stream), cuda::Code::ok);
    EXPECT_TRUE(is_peer_released());
  }
}

TEST_F(TakenOffers, WhoseCopyFailsHoldUpNobody) {
  for (const auto way : both_ways) {
    for (const Call call : {Call::wait_word, Call::copy, Call::write_word}) {
      link_->of_peer().promise(ready_of(0));
      device().fail_next(call, cuda::Code::illegal_address);
      EXPECT_EQ(copy(way), base::Status(Code::device_failed, 700)) << static_cast<int>(call);
      link_->of_peer().give(ready_of(0));
      EXPECT_EQ(device().synchronize(cuda::default_stream), cuda::Code::ok);
      EXPECT_TRUE(is_peer_released()) << static_cast<int>(call);
    }
    link_->of_peer().promise(ready_of(0));
    device().fail_next(Call::write_word, cuda::Code::illegal_address, 2);
    EXPECT_EQ(copy(way), base::Status(Code::device_failed, 700));
    EXPECT_TRUE(is_peer_released()) << "by the host, where the stream cannot be told to do it";
    link_->of_peer().give(ready_of(0));
    EXPECT_EQ(device().synchronize(cuda::default_stream), cuda::Code::ok);
    EXPECT_TRUE(copy(way).ok()) << "the slot is used again";
    EXPECT_EQ(device().synchronize(cuda::default_stream), cuda::Code::ok);
    EXPECT_TRUE(is_peer_released());
  }
}

}  // namespace
}  // namespace parley::transport::cuda_ipc
