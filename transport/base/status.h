#pragma once

#include <cstdint>
#include <string>
#include <type_traits>

namespace parley::base {

// Outcome of an internal operation. Codes are grouped by the largest thing they end.
enum class Code : std::uint8_t {
  ok,
  in_progress,  // accepted; a Completion reports the outcome
  again,        // nothing was taken; retry after progress()

  // Scope: the operation. Its peer stays usable.
  cancelled,
  timed_out,
  truncated,
  mismatched,
  deadlocked,
  invalid_argument,
  exhausted,      // memory, descriptors or envelopes
  device_failed,  // the GPU or its driver; native(): CUDA's number

  // Scope: the peer. Everything with this peer fails, others go on.
  peer_died,  // gone without a goodbye
  peer_left,  // said goodbye
  gone,       // left or died before there was a link to it
  unreachable,
  refused,   // the handshake was refused
  given_up,  // one side closed the link: a deadline passed in the middle of a transfer, or memory was short
  protocol_violation,
  io_error,

  // Scope: the group or the engine. Everything in it fails.
  aborted,
  closed,
};

enum class Scope : std::uint8_t { none, operation, peer, group };

// Code plus the errno (or similar) behind it. Trivially copyable, 8 bytes, never allocates.
// `in_progress` and `again` are flow control, not failures: they are never logged.
class [[nodiscard]] Status {
 public:
  constexpr Status() noexcept = default;
  constexpr Status(Code code, std::int32_t native = 0) noexcept : code_(code), native_(native) {}  // NOLINT

  [[nodiscard]] constexpr bool ok() const noexcept { return code_ == Code::ok; }
  [[nodiscard]] constexpr Code code() const noexcept { return code_; }
  [[nodiscard]] constexpr std::int32_t native() const noexcept { return native_; }
  [[nodiscard]] constexpr Scope scope() const noexcept {
    if (code_ <= Code::again) return Scope::none;
    if (code_ <= Code::device_failed) return Scope::operation;
    return code_ <= Code::io_error ? Scope::peer : Scope::group;
  }
  // Whether the operation ended badly (flow control is not failure).
  [[nodiscard]] constexpr bool failed() const noexcept { return scope() != Scope::none; }
  friend constexpr bool operator==(const Status& a, const Status& b) noexcept = default;

  // "peer died: Connection reset by peer". Cold path only.
  [[nodiscard]] std::string describe() const;

 private:
  Code code_ = Code::ok;
  std::int32_t native_ = 0;
};
static_assert(sizeof(Status) == 8 && std::is_trivially_copyable_v<Status>);

// "peer_died" as words: "peer died".
const char* to_string(Code code) noexcept;

}  // namespace parley::base
