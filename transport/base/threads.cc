#include "transport/base/threads.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
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

// Whether a listed thread counts: not one that has ended and is listed for a moment longer, nor one of a
// sanitizer's runtime, which takes no lock of the program. ThreadSanitizer has one, and in forked children
// sometimes two; they block every signal, as own threads do and hardly any other.
bool counts(const std::filesystem::path& task) {
  std::ifstream status(task / "status");
  bool lives = false;
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("State:")) lives = line.find_first_of("XZ") == std::string::npos;
#if defined(PARLEY_THREAD_SANITIZER)
    if (line.starts_with("SigBlk:") && line.find("ffffff") != std::string::npos) return false;
#endif
  }
  return lives;
}

// One look at the list.
std::size_t count_listed() {
  std::error_code failure;
  std::size_t threads = 0;
  for (std::filesystem::directory_iterator task("/proc/self/task", failure), end; !failure && task != end;
       task.increment(failure))
    threads += counts(task->path()) ? 1 : 0;
#if defined(PARLEY_THREAD_SANITIZER)
  threads += own_threads.load(std::memory_order_relaxed);  // which were taken for the runtime's
#endif
  return failure ? 1 : std::max<std::size_t>(threads, 1);
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

// A thread that ends meanwhile may take its neighbour out of the list that is being read: read until two
// lists agree.
std::size_t count_threads() {
  constexpr int most_looks = 16;
  std::size_t threads = count_listed();
  for (int look = 1; look < most_looks; ++look) {
    const std::size_t before = std::exchange(threads, count_listed());
    if (before == threads) break;
  }
  return threads;
}

std::size_t count_program_threads() {
  // Before and after: one that starts or ends meanwhile counts as the program's.
  const std::size_t own_before = own_threads.load(std::memory_order_relaxed);
  const std::size_t all = count_threads();
  const std::size_t own = std::min(own_before, own_threads.load(std::memory_order_relaxed));
  return std::max(all, own + 1) - own;
}

}  // namespace parley::base
