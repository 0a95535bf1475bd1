#include "transport/socket/random.h"

#include <sys/random.h>

#include <cerrno>

namespace parley::socket {

bool fill_random(std::span<std::byte> bytes) noexcept {
  while (!bytes.empty()) {
    const ssize_t count = getrandom(bytes.data(), bytes.size(), 0);
    if (count < 0 && errno != EINTR) return false;
    if (count > 0) bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return true;
}

}  // namespace parley::socket
