#include "transport/base/threads.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <sstream>
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

// Whether the thread has begun to end. Whoever joins one is woken before it is off the list, and on a busy
// machine it stays there, ready to run, for as long as it waits for a core.
bool is_ending(const std::filesystem::path& task) {
  constexpr unsigned long exiting = 0x4;  // PF_EXITING of include/linux/sched.h
  std::ifstream file(task / "stat");
  std::string line;
  std::getline(file, line);
  // proc(5): "tid (name) state ppid pgrp session tty_nr tpgid flags ...", where the name may hold anything.
  std::istringstream fields(line.substr(std::min(line.rfind(')'), line.size())));
  std::string skipped;
  for (int field = 0; field < 7; ++field) fields >> skipped;
  unsigned long flags = exiting;  // of one that is gone
  fields >> flags;
  return (flags & exiting) != 0;
}

// Whether the thread is one of a sanitizer's runtime, which takes no lock of the program. ThreadSanitizer has
// one, and in forked children sometimes two; they block every signal, as own threads do and hardly any other.
bool is_of_sanitizer([[maybe_unused]] const std::filesystem::path& task) {
#if defined(PARLEY_THREAD_SANITIZER)
  std::ifstream status(task / "status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("SigBlk:")) return line.find("ffffff") != std::string::npos;
#endif
  return false;
}

// One look at the list.
std::size_t count_listed() {
  std::error_code failure;
  std::size_t threads = 0;
  for (std::filesystem::directory_iterator task("/proc/self/task", failure), end; !failure && task != end;
       task.increment(failure))
    threads += is_ending(task->path()) || is_of_sanitizer(task->path()) ? 0 : 1;
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
