#include "transport/base/status.h"

#include <system_error>

namespace parley::base {

const char* to_string(Code code) noexcept {
  switch (code) {
    case Code::ok: return "ok";
    case Code::in_progress: return "in progress";
    case Code::again: return "again";
    case Code::cancelled: return "cancelled";
    case Code::timed_out: return "timed out";
    case Code::truncated: return "truncated";
    case Code::mismatched: return "mismatched";
    case Code::deadlocked: return "deadlocked";
    case Code::invalid_argument: return "invalid argument";
    case Code::exhausted: return "resources exhausted";
    case Code::device_failed: return "the device failed";
    case Code::peer_died: return "peer died";
    case Code::peer_left: return "peer left";
    case Code::gone: return "peer gone";
    case Code::unreachable: return "unreachable";
    case Code::refused: return "refused";
    case Code::given_up: return "link given up";
    case Code::protocol_violation: return "protocol violation";
    case Code::io_error: return "i/o error";
    case Code::aborted: return "aborted";
    case Code::closed: return "closed";
  }
  return "unknown";
}

std::string Status::describe() const {
  const std::string text = to_string(code_);
  if (native_ == 0) return text;
  if (code_ == Code::device_failed) return text + ": CUDA error " + std::to_string(native_);
  // system_category().message is thread-safe, strerror is not.
  return text + ": " + std::system_category().message(native_);
}

}  // namespace parley::base
