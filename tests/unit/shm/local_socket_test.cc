#include "transport/shm/local_socket.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/unit/shm/child.h"
#include "tests/unit/shm/refuse_calls.h"
#include "transport/base/epoll.h"
#include "transport/shm/cross_memory.h"

namespace parley::transport::shm {
namespace {

using base::Code;
using base::UniqueFd;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

bool is_readable(const UniqueFd& fd) {
  pollfd one{fd.get(), POLLIN, 0};
  return ::poll(&one, 1, 60'000) == 1;
}

struct Connected {
  LocalListener listener;
  UniqueFd dialled;
  UniqueFd accepted;
};

Connected connected() {
  LocalListener listener = LocalListener::open().value();
  UniqueFd dialled = connect_locally(listener.name()).value();
  UniqueFd accepted = listener.accept();
  return {std::move(listener), std::move(dialled), std::move(accepted)};
}

TEST(LocalSocket, NamesAreDrawnAndGoneWithTheirSocket) {
  std::string name;
  {
    const auto one = LocalListener::open();
    const auto other = LocalListener::open();
    ASSERT_TRUE(one && other);
    EXPECT_NE(one.value().name(), other.value().name());
    EXPECT_EQ(one.value().name().size(), 32U);
    name = one.value().name();
    EXPECT_TRUE(connect_locally(name));
  }
  const auto late = connect_locally(name);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.failure().status.native(), ECONNREFUSED);
}

// So a link without a word for cross-memory copies has none because it was told so, as why_not() says.
TEST(LocalSocket, WithoutRandomBytesThereIsNoListenerAndNoWord) {
  EXPECT_EQ(testing::in_child([] {
              testing::refuse_calls({{.number = SYS_getrandom, .error = ENOSYS}});
              const auto listener = LocalListener::open();
              const bool has_word = CrossMemory::create() != nullptr;
              // A C library may draw them without a call; then there are both.
              testing::expect(has_word == static_cast<bool>(listener), "only one of them is there");
              return listener ? "the system gave no random bytes" : listener.failure().message;
            }),
            "the system gave no random bytes");
}

TEST(LocalSocket, WhatIsNoNameIsRefused) {
  for (const auto& name : {std::string(), std::string(200, 'x')})
    EXPECT_EQ(connect_locally(name).failure().status.code(), Code::unreachable) << name;
}

TEST(LocalSocket, TellsWhoIsThere) {
  Connected pair = connected();
  const auto partner = partner_of(pair.accepted);
  ASSERT_TRUE(partner);
  EXPECT_EQ(partner.value().user, geteuid());
  EXPECT_EQ(partner.value().process, getpid());
}

TEST(LocalSocket, TheEndOfTheProcessIsSeenAlthoughAForkHoldsItsSocket) {
  LocalListener listener = LocalListener::open().value();
  std::array<int, 2> hold{};
  ASSERT_EQ(pipe(hold.data()), 0);
  const pid_t child = fork();
  if (child == 0) {
    const UniqueFd dialled = connect_locally(listener.name()).value();
    if (fork() == 0) {  // keeps the socket open until the test lets go of the pipe
      char byte;
      ::close(hold[1]);
      (void)send_message(dialled, bytes_of("held"), {});
      (void)!::read(hold[0], &byte, 1);
      _exit(0);
    }
    pollfd one{dialled.get(), POLLIN, 0};
    ::poll(&one, 1, 60'000);
    _exit(0);
  }
  UniqueFd accepted;
  while (!accepted) accepted = listener.accept();
  std::array<std::byte, 4> held;
  HandedOver none;
  EXPECT_TRUE(is_readable(accepted) && receive_message(accepted, held, none).ok());
  auto partner = partner_of(accepted);
  ASSERT_TRUE(partner);
  if (!partner.value().end_of_life) {
    ::kill(child, SIGKILL);
    FAIL() << "this kernel has no pidfd";
  }
  pollfd alive{partner.value().end_of_life.get(), POLLIN, 0};
  EXPECT_EQ(::poll(&alive, 1, 0), 0);
  ::kill(child, SIGKILL);
  EXPECT_TRUE(is_readable(partner.value().end_of_life));
  pollfd socket{accepted.get(), POLLIN, 0};
  EXPECT_EQ(::poll(&socket, 1, 0), 0) << "the socket tells nothing of it";
  ::waitpid(child, nullptr, 0);
  ::close(hold[0]);
  ::close(hold[1]);
}

TEST(LocalSocket, MessagesCarryDescriptors) {
  Connected pair = connected();
  const UniqueFd event = base::make_event_fd();
  const std::array<int, 1> handed{event.get()};
  ASSERT_TRUE(send_message(pair.dialled, bytes_of("hello"), handed).ok());
  std::array<std::byte, 5> message;
  HandedOver descriptors;
  ASSERT_TRUE(receive_message(pair.accepted, message, descriptors).ok());
  ASSERT_TRUE(descriptors[0]);
  EXPECT_FALSE(descriptors[1]);
  EXPECT_NE(fcntl(descriptors[0].get(), F_GETFD) & FD_CLOEXEC, 0);
  base::signal_event(descriptors[0]);
  EXPECT_TRUE(is_readable(event));
}

TEST(LocalSocket, NothingThereOrNobody) {
  Connected pair = connected();
  std::array<std::byte, 5> message;
  HandedOver descriptors;
  EXPECT_EQ(receive_message(pair.accepted, message, descriptors).code(), Code::again);
  pair.dialled.reset();
  EXPECT_EQ(receive_message(pair.accepted, message, descriptors).code(), Code::peer_died);
  EXPECT_EQ(send_message(pair.accepted, bytes_of("hello"), {}).code(), Code::peer_died);
}

// The message is there when memory is.
TEST(LocalSocket, AShortageOfMemoryIsNotTakenForTheEndOfThePeer) {
  for (const int error : {ENOMEM, ENOBUFS})
    EXPECT_EQ(testing::in_child([error] {
                Connected pair = connected();
                testing::expect(send_message(pair.dialled, bytes_of("hello"), {}).ok(), "it is sent");
                testing::refuse_calls({{.number = SYS_recvmsg, .error = error}});
                std::array<std::byte, 5> message;
                HandedOver descriptors;
                const auto got = receive_message(pair.accepted, message, descriptors);
                testing::expect(got.code() == Code::again && got.native() == error, got.describe());
                return std::string(is_readable(pair.accepted) ? "" : "it is not asked again");
              }),
              "");
}

TEST(LocalSocket, AnotherSizeIsRefusedAndItsDescriptorsAreClosed) {
  for (const std::string_view text : {"four", "sixsix"}) {
    Connected pair = connected();
    std::array<int, 2> ends{};
    ASSERT_EQ(pipe(ends.data()), 0);
    const UniqueFd reading(ends[0]);
    UniqueFd writing(ends[1]);
    const std::array<int, 1> handed{writing.get()};
    ASSERT_TRUE(send_message(pair.dialled, bytes_of(text), handed).ok());
    writing.reset();
    std::array<std::byte, 5> message;
    {
      HandedOver descriptors;
      EXPECT_EQ(receive_message(pair.accepted, message, descriptors).code(), Code::protocol_violation);
    }
    char byte;
    EXPECT_EQ(::read(reading.get(), &byte, 1), 0) << "somebody still holds the other end";
  }
}

TEST(LocalSocket, MoreDescriptorsThanFitAreRefusedAndClosed) {
  Connected pair = connected();
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  const UniqueFd reading(ends[0]);
  UniqueFd writing(ends[1]);
  char body[5] = {};
  iovec piece{body, sizeof(body)};
  constexpr std::size_t many = most_handed_over + 3;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(many * sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(many * sizeof(int));
  const std::vector<int> handed(many, writing.get());
  std::memcpy(CMSG_DATA(header), handed.data(), many * sizeof(int));
  ASSERT_EQ(sendmsg(pair.dialled.get(), &message, 0), 5);
  writing.reset();
  std::array<std::byte, 5> into;
  {
    HandedOver descriptors;
    EXPECT_EQ(receive_message(pair.accepted, into, descriptors).code(), Code::protocol_violation);
  }
  char byte;
  EXPECT_EQ(::read(reading.get(), &byte, 1), 0);
}

}  // namespace
}  // namespace parley::transport::shm
