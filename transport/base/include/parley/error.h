#pragma once

#include <parley/export.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace parley {

// What is known about a failure. Fields that do not apply keep their default (-1, 0 or empty).
struct ErrorDetails {
  int rank = -1;          // the rank that reports, in the world
  int peer = -1;          // the rank the operation was with, in the world
  int culprit = -1;       // the rank that caused it, in the world; may differ from `peer`
  std::string host = {};  // host and process of the culprit, else of the peer
  std::int64_t pid = 0;
  std::string operation = {};  // "send", "recv", "barrier", "store get", ...
  std::int64_t tag = -1;
  std::size_t bytes = 0;                // bytes of the operation's buffer
  std::size_t message_bytes = 0;        // bytes of the message, where they differ (TruncationError)
  std::chrono::nanoseconds elapsed{0};  // since the operation was posted; 0 when it failed at once
  std::vector<std::string> keys = {};   // keys a store operation waited for
};

// Base of everything that Parley throws. what() is one complete sentence that names the peer and the
// operation. Thread-safety: immutable. Errors of the library are copies; they own their text.
class PARLEY_API Error : public std::runtime_error {
 public:
  explicit Error(const std::string& what, ErrorDetails details = {});
  ~Error() override;
  [[nodiscard]] const ErrorDetails& details() const noexcept { return details_; }

 private:
  ErrorDetails details_;
};

// The caller's mistake: wrong rank, negative tag, non-contiguous tensor, second init(). Nothing was started.
class PARLEY_API UsageError : public Error {
 public:
  using Error::Error;
  ~UsageError() override;
};

// The deadline passed. The text lists the nearest misses: messages that are there but do not match.
class PARLEY_API TimeoutError : public Error {
 public:
  using Error::Error;
  ~TimeoutError() override;
};

// A process that this operation needs is gone without a goodbye; `culprit` names it.
class PARLEY_API PeerDiedError : public Error {
 public:
  using Error::Error;
  ~PeerDiedError() override;
};

// The peer left in good order (it said goodbye) while this operation still needed it.
class PARLEY_API PeerLeftError : public Error {
 public:
  using Error::Error;
  ~PeerLeftError() override;
};

// The link to a process that lives was closed by one side: an operation's deadline passed in the middle of
// its transfer, it had no memory for what came, or the other one broke the protocol. `culprit`: the side with
// the deadline or without memory, or the one that broke the protocol.
class PARLEY_API LinkLostError : public Error {
 public:
  using Error::Error;
  ~LinkLostError() override;
};

// The message was longer than the receive buffer. Both sizes are given; the link stays usable.
class PARLEY_API TruncationError : public Error {
 public:
  using Error::Error;
  ~TruncationError() override;
};

// Ranks disagree: sender and receiver about the element type, members about the group that they make, or
// ranks about the collective that they are in. Both sides are shown.
class PARLEY_API MismatchError : public Error {
 public:
  using Error::Error;
  ~MismatchError() override;
};

// A list of objects that came cannot be taken: it is beyond the receiver's limits, or it is no JSON.
// `culprit` has sent it. The list is gone; the link stays usable.
class PARLEY_API ObjectError : public Error {
 public:
  using Error::Error;
  ~ObjectError() override;
};

// Two ranks wait for each other; the text shows what each of them waits for.
class PARLEY_API DeadlockError : public Error {
 public:
  using Error::Error;
  ~DeadlockError() override;
};

// The operation was cancelled by its owner.
class PARLEY_API CancelledError : public Error {
 public:
  using Error::Error;
  ~CancelledError() override;
};

// The group was aborted, here or by another rank, or another rank gave up a collective at its deadline; the
// text gives the reason.
class PARLEY_API AbortedError : public Error {
 public:
  using Error::Error;
  ~AbortedError() override;
};

// Start-up failed: unreachable rank, refused handshake, missing ranks.
class PARLEY_API InitError : public Error {
 public:
  using Error::Error;
  ~InitError() override;
};

// A store operation failed; `keys` names what was asked for.
class PARLEY_API StoreError : public Error {
 public:
  using Error::Error;
  ~StoreError() override;
};

// The keys did not appear before the deadline.
class PARLEY_API StoreTimeoutError : public StoreError {
 public:
  using StoreError::StoreError;
  ~StoreTimeoutError() override;
};

// The connection to the store's host is gone.
class PARLEY_API StoreLostError : public StoreError {
 public:
  using StoreError::StoreError;
  ~StoreLostError() override;
};

// A limit of the system or of Parley was reached: descriptors, memory, envelopes.
class PARLEY_API ResourceError : public Error {
 public:
  using Error::Error;
  ~ResourceError() override;
};

// A call in a forked child of a process that uses Parley.
class PARLEY_API ForkedError : public Error {
 public:
  using Error::Error;
  ~ForkedError() override;
};

// The operating system or a connection failed in a way no other type describes.
class PARLEY_API SystemError : public Error {
 public:
  using Error::Error;
  ~SystemError() override;
};

}  // namespace parley
