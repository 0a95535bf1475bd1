#include "api/launch/signal_mask.h"

#include <pthread.h>

namespace parley::launch {

BlockedSignals::BlockedSignals() noexcept : before_() {
  sigset_t everything;
  sigfillset(&everything);
  pthread_sigmask(SIG_SETMASK, &everything, &before_);
}

BlockedSignals::~BlockedSignals() {
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void BlockedSignals::end_before_exec() const noexcept {
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction action {};
    if (sigaction(number, nullptr, &action) != 0) continue;  // one that libc keeps to itself
    if (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN) continue;
    action = {};
    action.sa_handler = SIG_DFL;
    sigaction(number, &action, nullptr);
  }
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace parley::launch
