// Words of a peer that dies are given, whatever else happens, and of others they are not.
#include "transport/cuda_ipc/life_watch.h"

#include <thread>

#include "tests/unit/cuda_ipc/rank.h"

namespace parley::transport::cuda_ipc {
namespace {

// The words of one link; all are told, and none is given.
struct WatchedPeer {
  WatchedPeer(Port& port, LifeWatch& watch)
      : ours(port, ledger.own_words()),
        peers(port, ledger.peer_words()),
        number(watch.add(ledger.end_of_peer(), ledger.own_words(), ledger.peer_words())) {
    tell();
  }
  void tell() {
    ours.promise(3);
    peers.promise(Semaphores::count - 1);
  }
  [[nodiscard]] bool is_released() const {
    return ours.is_reached(3) && peers.is_reached(Semaphores::count - 1);
  }
  void await_release() const {
    while (!is_released()) std::this_thread::yield();
  }

  Ledger ledger;
  Semaphores ours, peers;
  LifeWatch::Number number;
};

TEST_F(Rank, WhoDiesIsReleasedAgainAndAgain) {
  LifeWatch watch;
  WatchedPeer dies(*port_, watch), lives(*port_, watch);
  dies.ledger.die();
  dies.await_release();
  dies.tell();  // by who does not know yet
  dies.await_release();
  EXPECT_FALSE(lives.is_released());
  lives.ledger.die();
  lives.await_release();
}

TEST_F(Rank, WhoIsNotWatchedAnyMoreIsNotReleased) {
  LifeWatch watch;
  WatchedPeer forgotten(*port_, watch), other(*port_, watch);
  watch.remove(forgotten.number);
  forgotten.ledger.die();
  other.ledger.die();
  other.await_release();
  EXPECT_FALSE(forgotten.is_released());
}

// A program that waits in CUDA holds everybody else up there, whoever has the engine's lock as well.
TEST_F(Rank, ADeathIsHeardWhileEverybodyWaitsForTheDevice) {
  Ledger ledger;
  IpcMover mover(*port_, ledger, IpcMover::Copies::by_us);
  Transfer& transfer = begin(allocate(64), 64);
  const auto exposure = mover.expose_device(transfer);
  ASSERT_TRUE(exposure);
  ledger.take(*exposure);
  Semaphores(*port_, ledger.own_words()).promise(finished_of(0));  // by the peer, whose stream is late
  mover.note_pulled(exposure->handle);
  transfer.release();
  EXPECT_NE(device().pending(cuda::default_stream), 0U);
  std::thread death([&] { ledger.die(); });
  EXPECT_EQ(device().synchronize(cuda::default_stream), cuda::Code::ok);
  death.join();
}

}  // namespace
}  // namespace parley::transport::cuda_ipc
