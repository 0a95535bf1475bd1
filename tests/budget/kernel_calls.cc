#include "tests/budget/kernel_calls.h"

#include <dlfcn.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>

namespace parley::testing {
namespace {

#ifdef SYS_epoll_wait
constexpr int polling_call = SYS_epoll_wait;
#else
constexpr int polling_call = SYS_epoll_pwait;
#endif

// relaxed: the kernel lets a call go on after it was counted, and the others are counted by the thread
// itself.
std::atomic<std::uint64_t> calls{0};
// By number; the last one is all beyond.
std::array<std::atomic<std::uint64_t>, 600> calls_of{};
thread_local bool is_watched = false;

std::atomic<std::uint64_t>& counter_of(int number) noexcept {
  return calls_of[std::min(static_cast<std::size_t>(number), calls_of.size() - 1)];
}

void add(int number) noexcept {
  counter_of(number).fetch_add(1, std::memory_order_relaxed);
  calls.fetch_add(1, std::memory_order_relaxed);
}

// The filter's descriptor, from which calls are heard.
int install_filter() {
  std::array<sock_filter, 5> program{
      sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sched_yield, 1, 0),
      sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, polling_call, 0, 1),
      sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF)};
  const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
  return static_cast<int>(
      syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &filter));
}

// Until the process ends.
void count_calls(const std::atomic<int>& listener) {
  // acquire: pairs with the release of watch().
  while (listener.load(std::memory_order_acquire) < 0) sched_yield();
  const int fd = listener.load(std::memory_order_relaxed);
  for (;;) {
    seccomp_notif call{};
    if (ioctl(fd, SECCOMP_IOCTL_NOTIF_RECV, &call) != 0) continue;  // a signal, or the caller was interrupted
    add(call.data.nr);
    seccomp_notif_resp answer{};
    answer.id = call.id;
    answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    ioctl(fd, SECCOMP_IOCTL_NOTIF_SEND, &answer);
  }
}

}  // namespace

void KernelCalls::watch() {
  static std::atomic<int> listener{-1};
  std::thread([] { count_calls(listener); }).detach();  // before the filter, which new threads inherit
  const int fd = install_filter();
  if (fd < 0)
    throw std::runtime_error(std::string("no seccomp filter can tell of calls: ") + std::strerror(errno));
  is_watched = true;
  // release: with the descriptor the counting thread begins.
  listener.store(fd, std::memory_order_release);
}

std::uint64_t KernelCalls::count() noexcept {
  return calls.load(std::memory_order_relaxed);
}

std::uint64_t KernelCalls::count(int number) noexcept {
  return counter_of(number).load(std::memory_order_relaxed);
}

std::string KernelCalls::describe() {
  std::string text;
  for (std::size_t number = 0; number < calls_of.size(); ++number) {
    const std::uint64_t times = count(static_cast<int>(number));
    if (times != 0)
      text += (text.empty() ? "" : ", ") + std::to_string(number) + ": " +
              (times == 1 ? "once" : std::to_string(times) + " times");
  }
  return text.empty() ? "none" : text;
}

}  // namespace parley::testing

using parley::testing::add;
using parley::testing::is_watched;
using parley::testing::polling_call;

extern "C" {

int sched_yield() noexcept {
  static auto* const real = reinterpret_cast<decltype(::sched_yield)*>(dlsym(RTLD_NEXT, "sched_yield"));
  if (is_watched) add(SYS_sched_yield);
  return real();
}
int epoll_wait(int set, epoll_event* events, int most, int timeout) {
  static auto* const real = reinterpret_cast<decltype(::epoll_wait)*>(dlsym(RTLD_NEXT, "epoll_wait"));
  if (is_watched) add(polling_call);
  return real(set, events, most, timeout);
}

}  // extern "C"
