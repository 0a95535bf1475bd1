#include "api/launch/signal_source.h"

#include <pthread.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>

#include "api/launch/pipe.h"

namespace parley::launch {
namespace {

bool is_ignored(int signal_number) noexcept {
  struct sigaction action {};
  return sigaction(signal_number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

SignalSource::SignalSource() {
  sigset_t wanted;
  sigemptyset(&wanted);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    if (!is_ignored(number)) sigaddset(&wanted, number);
  }
  fd_.reset(signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd_) throw_system_error("cannot receive signals");
  pthread_sigmask(SIG_BLOCK, &wanted, &before_);
  std::signal(SIGCHLD, SIG_DFL);
}

SignalSource::~SignalSource() {
  restore_in_child();
}

std::optional<SignalSource::Signal> SignalSource::next() noexcept {
  signalfd_siginfo info{};
  if (read(fd_.get(), &info, sizeof(info)) != static_cast<ssize_t>(sizeof(info))) return std::nullopt;
  return Signal{static_cast<int>(info.ssi_signo), info.ssi_code == SI_KERNEL};
}

void SignalSource::restore_in_child() const noexcept {
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace parley::launch
