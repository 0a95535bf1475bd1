// Many that dial one process before it looks, after others that say nothing.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "transport/protocol/messenger.h"
#include "transport/shm/shm_transport.h"
#include "transport/socket/reactor.h"

namespace parley::transport::shm {
namespace {

// More than are left waiting in silence.
constexpr std::uint32_t ranks = 1 + 150;

// All ranks but 0, which has not looked yet, have dialled it and introduced themselves.
class Callers : public ::testing::Test {
 protected:
  Callers() {
    // A dozen descriptors for each rank.
    rlimit files{};
    EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &files), 0);
    files.rlim_cur = files.rlim_max;
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &files), 0);
    for (std::uint32_t number = 0; number < ranks; ++number) {
      messengers_.push_back(
          std::make_unique<Messenger>(MessengerOptions{.self = number, .peer_count = ranks}));
      const Self self{.number = number, .job = {}, .cross_memory = nullptr, .arena = nullptr};
      transports_.push_back(std::make_unique<ShmTransport>(reactor_, self));
      EXPECT_TRUE(transports_.back()->start(*messengers_.back()).ok());
    }
  }
  ~Callers() override {
    for (const auto& transport : transports_) transport->close();
    for (const auto& transport : transports_)
      while (transport->progress(nullptr) != 0) {
      }
  }
  void dial() {
    for (std::uint32_t number = 1; number < ranks; ++number) {
      transports_[number]->connect(0, transports_[0]->address(),
                                   base::Deadline::after(std::chrono::seconds(60)));
      transports_[number]->progress(nullptr);
    }
  }
  // How many have a link once all have looked so often.
  std::uint32_t linked_after(int looks) {
    for (int look = 0; look < looks; ++look)
      for (const auto& transport : transports_) transport->progress(nullptr);
    std::uint32_t linked = 0;
    for (std::uint32_t number = 1; number < ranks; ++number) {
      const bool is_up = messengers_[number]->peer(0).state == PeerState::up;
      EXPECT_EQ(messengers_[0]->peer(number).state == PeerState::up, is_up) << "of rank " << number;
      linked += is_up ? 1 : 0;
    }
    return linked;
  }

  socket::Reactor reactor_;
  std::vector<std::unique_ptr<Messenger>> messengers_;
  std::vector<std::unique_ptr<ShmTransport>> transports_;
};

TEST_F(Callers, AreAllTakenThoughTheyComeAtOnce) {
  dial();
  EXPECT_EQ(linked_after(300), ranks - 1);
}

// Strangers are turned away in the order of their coming, and nobody who has spoken is.
TEST_F(Callers, AreTakenThoughManyBeforeThemSayNothing) {
  const std::string address = transports_[0]->address();
  const std::string name = address.substr(address.rfind('/') + 1);
  std::vector<base::UniqueFd> silent;
  for (int i = 0; i < 100; ++i) silent.push_back(connect_locally(name).value());
  dial();
  EXPECT_EQ(linked_after(300), ranks - 1);
}

}  // namespace
}  // namespace parley::transport::shm
