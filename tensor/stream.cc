#include <parley/stream.h>

#include <utility>

namespace parley {
namespace {
thread_local void* stream_of_thread = nullptr;
}  // namespace

StreamGuard::StreamGuard(void* stream) noexcept : previous_(std::exchange(stream_of_thread, stream)) {}

StreamGuard::~StreamGuard() {
  stream_of_thread = previous_;
}

void* current_stream() noexcept {
  return stream_of_thread;
}

}  // namespace parley
