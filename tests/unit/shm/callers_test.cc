// Many that dial one process before it looks, after others that say nothing.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/unit/shm/child.h"
#include "transport/protocol/messenger.h"
#include "transport/shm/shm_transport.h"
#include "transport/socket/reactor.h"

namespace parley::transport::shm {
namespace {

// More than are left waiting in silence.
constexpr std::uint32_t crowd = 1 + 150;

bool is_at_its_end(const base::UniqueFd& connection) {
  pollfd one{connection.get(), POLLIN, 0};
  return ::poll(&one, 1, 0) == 1 && (one.revents & POLLHUP) != 0;
}

// All ranks but 0, which has not looked yet, have dialled it and introduced themselves.
class Callers : public ::testing::Test {
 protected:
  Callers() {
    // A dozen descriptors for each rank.
    rlimit files{};
    EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &files), 0);
    files.rlim_cur = files.rlim_max;
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &files), 0);
    for (std::uint32_t number = 0; number < crowd; ++number) {
      messengers_.push_back(
          std::make_unique<Messenger>(MessengerOptions{.self = number, .peer_count = crowd}));
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
    for (std::uint32_t number = 1; number < crowd; ++number) {
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
    for (std::uint32_t number = 1; number < crowd; ++number) {
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
  EXPECT_EQ(linked_after(300), crowd - 1);
}

// Strangers are turned away in the order of their coming, and nobody who has spoken is.
TEST_F(Callers, AreTakenThoughManyBeforeThemSayNothing) {
  const std::string address = transports_[0]->address();
  const std::string name = address.substr(address.rfind('/') + 1);
  std::vector<base::UniqueFd> silent;
  for (int i = 0; i < 100; ++i) silent.push_back(connect_locally(name).value());
  dial();
  EXPECT_EQ(linked_after(300), crowd - 1);
}

// It says nothing. Who is of our user has seconds for that, and others have none.
TEST_F(Callers, OfAnotherUserAreTurnedAwayBeforeTheySpeak) {
  const std::string address = transports_[0]->address();
  const std::string name = address.substr(address.rfind('/') + 1);
  const base::UniqueFd own = connect_locally(name).value();
  const base::UniqueFd is_there(::eventfd(0, EFD_CLOEXEC)), look(::eventfd(0, EFD_CLOEXEC));
  testing::Child stranger([&] {
    constexpr uid_t another = 54'321;
    testing::expect(::setresuid(another, another, another) == 0, "the test runs as root");
    const base::UniqueFd called = connect_locally(name).value();
    eventfd_t value = 0;
    testing::expect(::eventfd_write(is_there.get(), 1) == 0 && ::eventfd_read(look.get(), &value) == 0,
                    "eventfd");
    return is_at_its_end(called) ? std::string() : "it is still connected";
  });
  pollfd called{is_there.get(), POLLIN, 0};
  if (::poll(&called, 1, 10'000) != 1) FAIL() << stranger.finish();
  // Descriptors are looked at every 256 passes.
  for (int pass = 0; pass < 300; ++pass) transports_[0]->progress(nullptr);
  ASSERT_EQ(::eventfd_write(look.get(), 1), 0);
  EXPECT_EQ(stranger.finish(), "");
  EXPECT_FALSE(is_at_its_end(own));
}

}  // namespace
}  // namespace parley::transport::shm
