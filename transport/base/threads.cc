#include "transport/base/threads.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

namespace parley::base {
namespace {

// ThreadSanitizer keeps a thread of its own, which takes no lock of the program.
#if defined(__SANITIZE_THREAD__)
constexpr std::size_t runtime_threads = 1;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
constexpr std::size_t runtime_threads = 1;
#else
constexpr std::size_t runtime_threads = 0;
#endif
#else
constexpr std::size_t runtime_threads = 0;
#endif

// Counted by the threads themselves, from after their start to before their end. Relaxed throughout: a number
// that orders nothing else.
std::atomic<std::size_t> own_threads{0};

// A forked child has none of its parent's threads.
void forget_own_threads_in_children() {
  static const int registered =
      pthread_atfork(nullptr, nullptr, [] { own_threads.store(0, std::memory_order_relaxed); });
  (void)registered;
}

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
  return failure ? 1 : std::max<std::size_t>(threads, 1 + runtime_threads) - runtime_threads;
}

std::size_t count_program_threads() {
  // Before and after: one that starts or ends meanwhile counts as the program's.
  const std::size_t own_before = own_threads.load(std::memory_order_relaxed);
  const std::size_t all = count_threads();
  const std::size_t own = std::min(own_before, own_threads.load(std::memory_order_relaxed));
  return std::max(all, own + 1) - own;
}

}  // namespace parley::base
