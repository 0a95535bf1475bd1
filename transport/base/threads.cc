#include "transport/base/threads.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

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

constexpr std::string_view own_name = "parley";
constexpr std::string_view own_prefix = "parley-";

// The first thread may have such a name, too: it has the program's.
bool is_own(const std::filesystem::path& task) {
  if (task.filename() == std::to_string(getpid())) return false;
  std::string name;
  std::ifstream file(task / "comm");
  std::getline(file, name);
  return name == own_name || name.starts_with(own_prefix);
}

template <typename Counts>
std::size_t count(const Counts& counts) {
  std::error_code failure;
  std::size_t threads = 0;
  for (std::filesystem::directory_iterator task("/proc/self/task", failure), end; !failure && task != end;
       task.increment(failure))
    if (counts(task->path())) ++threads;
  return failure ? 1 : std::max<std::size_t>(threads, 1 + runtime_threads) - runtime_threads;
}

}  // namespace

std::size_t count_threads() {
  return count([](const std::filesystem::path&) { return true; });
}

std::size_t count_program_threads() {
  return count([](const std::filesystem::path& task) { return !is_own(task); });
}

void name_own_thread(const char* purpose) noexcept {
  std::string name(own_name);
  if (*purpose != '\0') name = std::string(own_prefix) + purpose;
  pthread_setname_np(pthread_self(), name.c_str());
}

}  // namespace parley::base
