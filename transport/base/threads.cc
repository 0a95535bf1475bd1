#include "transport/base/threads.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

namespace parley::base {
namespace {

// Counted by the threads themselves, from after their start to before their end. Relaxed throughout: a number
// that orders nothing else.
std::atomic<std::size_t> own_threads{0};

// A forked child has none of its parent's threads.
void forget_own_threads_in_children() {
  static const int registered =
      pthread_atfork(nullptr, nullptr, [] { own_threads.store(0, std::memory_order_relaxed); });
  (void)registered;
}

#if defined(__SANITIZE_THREAD__)
#define PARLEY_THREAD_SANITIZER
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define PARLEY_THREAD_SANITIZER
#endif
#endif

// Threads of a sanitizer's runtime, which take no lock of the program. ThreadSanitizer keeps one; in a forked
// child it starts one, and another with the child's first thread.
std::size_t runtime_threads() {
#if defined(PARLEY_THREAD_SANITIZER)
  static const pid_t first = getpid();
  return getpid() != first && own_threads.load(std::memory_order_relaxed) > 0 ? 2 : 1;
#else
  return 0;
#endif
}
// Asked early, so that `first` is the first process.
[[maybe_unused]] const std::size_t asked_early = runtime_threads();

class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

}  // namespace

std::thread start_own_thread(const char* purpose, std::function<void()> body) {
  forget_own_threads_in_children();
  const SignalsBlocked blocked;  // the new thread inherits it
  return std::thread([name = std::string("parley-") + purpose, body = std::move(body)] {
    own_threads.fetch_add(1, std::memory_order_relaxed);
    pthread_setname_np(pthread_self(), name.c_str());
    body();
    own_threads.fetch_sub(1, std::memory_order_relaxed);
  });
}

std::size_t count_threads() {
  std::error_code failure;
  std::size_t threads = 0;
  for (std::filesystem::directory_iterator task("/proc/self/task", failure), end; !failure && task != end;
       task.increment(failure))
    ++threads;
  const std::size_t runtime = runtime_threads();
  return failure ? 1 : std::max(threads, 1 + runtime) - runtime;
}

std::size_t count_program_threads() {
  // Before and after: one that starts or ends meanwhile counts as the program's.
  const std::size_t own_before = own_threads.load(std::memory_order_relaxed);
  const std::size_t all = count_threads();
  const std::size_t own = std::min(own_before, own_threads.load(std::memory_order_relaxed));
  return std::max(all, own + 1) - own;
}

}  // namespace parley::base
