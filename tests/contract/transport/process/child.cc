#include "tests/contract/transport/process/child.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "tests/contract/transport/process/host.h"

namespace parley::transport::contract {
namespace {

std::pair<base::UniqueFd, base::UniqueFd> make_sockets() {
  int sockets[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0)
    throw std::system_error(errno, std::system_category(), "socketpair");
  return {base::UniqueFd(sockets[0]), base::UniqueFd(sockets[1])};
}

// The life of the process. noexcept: nothing may come back into the test that was forked.
[[noreturn]] void live(const Child::MakeSite& make_site, PeerId self, Channel channel,
                       base::UniqueFd bell) noexcept {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  {
    const auto site = make_site();
    std::thread ringer([&] {
      char byte;
      while (::read(bell.get(), &byte, 1) == 1) site->doorbell().ring();
    });
    {
      Host host(channel, *site, self);
      host.serve();
    }
    ::shutdown(bell.get(), SHUT_RD);
    ringer.join();
  }
  _exit(0);
}

std::string describe_end(int status) {
  if (WIFSIGNALED(status)) return "by signal " + std::to_string(WTERMSIG(status));
  return "with status " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

Child::Child(const MakeSite& make_site, PeerId self, std::chrono::milliseconds longest_silence)
    : self_(self) {
  auto [channel, channel_there] = make_sockets();
  auto [bell, bell_there] = make_sockets();
  std::fflush(nullptr);  // or it is printed by both
  pid_ = ::fork();
  if (pid_ < 0) throw std::system_error(errno, std::system_category(), "fork");
  if (pid_ == 0) {
    channel.reset();
    bell.reset();
    live(make_site, self, Channel(std::move(channel_there)), std::move(bell_there));
  }
  channel_.emplace(std::move(channel)).limit_silence(longest_silence);
  bell_ = std::move(bell);
}

Message Child::ask(const Message& request) {
  if (!is_alive()) return {};
  bool is_there = channel_->send(request);
  for (Message told; is_there;) {
    is_there = channel_->receive(told);
    if (!is_there) break;
    if (told.verb == Verb::answer) return told;
    on_event(told);
    if (!is_alive()) return {};
    is_there = channel_->send({.verb = Verb::go_on});
  }
  lost();
  return {};
}

void Child::ring() noexcept {
  const char byte = 1;
  [[maybe_unused]] const ssize_t sent = ::send(bell_.get(), &byte, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void Child::end() {
  if (!is_alive()) return;
  channel_->send({.verb = Verb::end});
  Message told;
  if (channel_->receive(told)) {
    ADD_FAILURE() << "the transport of process " << self_ << " tells something while it is destroyed";
    return kill();
  }
  if (channel_->is_silent()) return lost();
  const int status = wait();
  if (status != 0) ADD_FAILURE() << "process " << self_ << " ended " << describe_end(status);
}

// SIGKILL does nothing to a process that has ended already.
void Child::kill() {
  if (!is_alive()) return;
  ::kill(pid_, SIGKILL);
  wait();
}

int Child::wait() {
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = 0;
  return status;
}

void Child::lost() {
  if (channel_->is_silent()) {
    ADD_FAILURE() << "process " << self_ << " got stuck";
    return kill();
  }
  ADD_FAILURE() << "process " << self_ << " ended too soon, " << describe_end(wait());
}

}  // namespace parley::transport::contract
