#include "api/stream_numbers.h"

#include <parley/stream.h>

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <new>
#include <vector>

namespace parley::detail {
namespace {

struct Streams {
  std::mutex mutex;
  std::vector<void*> all{nullptr};  // by number; guarded by the mutex
};

// Never destroyed: a Work may be waited for while the process ends.
Streams& streams() {
  static Streams* const known = new Streams;
  return *known;
}

}  // namespace

int number_of_stream(void* stream) noexcept try {
  if (stream == nullptr) return 0;
  Streams& known = streams();
  const std::lock_guard lock(known.mutex);
  const auto found = std::find(known.all.begin(), known.all.end(), stream);
  const auto number = static_cast<int>(found - known.all.begin());
  if (found == known.all.end()) known.all.push_back(stream);
  return number;
} catch (const std::bad_alloc&) {
  return -1;
}

void* stream_of_number(int number) noexcept {
  if (number < 0) return current_stream();
  if (number == 0) return nullptr;
  Streams& known = streams();
  const std::lock_guard lock(known.mutex);
  return known.all[static_cast<std::size_t>(number)];
}

}  // namespace parley::detail
