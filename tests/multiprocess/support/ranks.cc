#include "tests/multiprocess/support/ranks.h"

#include <cstdlib>

namespace parley::testing {

int slowness() {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  return 4;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
  return 4;
#else
  return 1;
#endif
#else
  return 1;
#endif
}

bool long_tests() {
  const char* value = std::getenv("PARLEY_LONG_TESTS");
  return value != nullptr && std::string_view(value) == "1";
}

int run_ranks(int count, const std::function<void(int, int)>& rank_main, const RanksOptions& options) {
  SpawnOptions spawn_options;
  spawn_options.timeout = options.timeout * slowness();
  spawn_options.environment = options.environment;
  return spawn(count, rank_main, spawn_options);
}

}  // namespace parley::testing
