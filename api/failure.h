#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>

#include "api/collective/end_reason.h"
#include "api/wireup/last_word.h"
#include "api/wireup/world.h"

namespace parley::detail {

// What a failed operation was, for its error.
struct FailedOperation {
  const char* name = "";  // "send", "recv", ...
  std::uint32_t context = 0;
  int peer = -1;          // -1: any source, or a collective
  std::int64_t tag = -1;  // -1: any tag
  std::size_t bytes = 0;  // of the buffer
};

// Everything about a failure that is known while the engine's lock is held.
struct FailureFacts {
  FailedOperation operation;
  base::Status status;
  int culprit = -1;
  std::size_t message_bytes = 0;
  std::uint8_t type_code = 0;
  std::uint8_t remote_type_code = 0;
  std::chrono::nanoseconds elapsed{0};
  std::string extra;  // near misses, the other half of a deadlock, the reason of an abort
  std::optional<collective::EndReason::Kind> end_of_collectives = std::nullopt;  // of the operation's group
};

// REQUIRES: the engine's lock. `request` has ended badly.
FailureFacts facts_of(const FailedOperation& operation, const transport::Request& request,
                      transport::Messenger& messenger);
// The same for an operation that failed before there was a request.
FailureFacts facts_of(const FailedOperation& operation, base::Status status, transport::Messenger& messenger);

// The exception for them; of the type that <parley/error.h> names for the case. May ask the store, for as
// long as `asker` can wait.
std::exception_ptr to_exception(const wireup::World& world, const FailureFacts& facts,
                                wireup::Asker asker = wireup::Asker::call);

// "3.2 s", "45 ms".
std::string duration_text(std::chrono::nanoseconds duration);

// Unmatched messages that are nearest to what `operation` waits for, as text; empty when there are none.
// REQUIRES: the engine's lock.
std::string near_misses(const FailedOperation& operation, transport::Messenger& messenger);

}  // namespace parley::detail
