#include "api/failure.h"

#include <parley/dtype.h>
#include <parley/error.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "api/collective/signature.h"
#include "api/collective_failure.h"
#include "api/fused_batch.h"
#include "api/wireup/last_word.h"
#include "transport/base/log.h"

namespace parley::detail {

using base::Code;
using base::concat;
using transport::Messenger;
using transport::Request;

namespace {

constexpr std::size_t listed_near_misses = 5;

std::string type_name(std::uint8_t code) {
  return std::string(name(static_cast<DType>(code)));
}

std::string tag_text(std::int64_t tag) {
  return tag < 0 ? "any tag" : concat("tag ", tag);
}

// "recv(tag 7, 4096 B) from rank 2 (host, pid 12)".
std::string operation_text(const wireup::World& world, const FailedOperation& operation) {
  if (is_collective(operation)) return operation.name;
  const std::string message = wireup::is_fused_batch_context(operation.context)
                                  ? concat(FusedTag::unpack(operation.tag).bytes, " B, in a batch by NCCL")
                                  : concat(tag_text(operation.tag), ", ", operation.bytes, " B");
  std::string text = concat(operation.name, "(", message, ")");
  const bool outgoing = std::string_view(operation.name) == "send";
  text += outgoing ? " to " : " from ";
  return text + (operation.peer < 0 ? std::string("any source") : world.name_of(operation.peer));
}

// "rank 0 send(tag 0) → 1". `collective`: if it is one.
std::string half_of_deadlock(int rank, std::uint32_t context, bool is_send, std::int64_t tag, int peer,
                             std::string_view collective) {
  const char* arrow = is_send ? " → " : " ← ";
  if (wireup::is_collective_context(context)) return concat("rank ", rank, ' ', collective, arrow, peer);
  if (wireup::is_monitored_barrier_context(context))
    return concat("rank ", rank, " monitored_barrier", arrow, peer);
  return concat("rank ", rank, is_send ? " send(" : " recv(", tag_text(tag), ")", arrow, peer);
}

std::string deadlock_text(const FailedOperation& operation, Messenger& messenger) {
  const auto self = static_cast<int>(messenger.options().self);
  const auto& peer = messenger.peer(static_cast<std::uint32_t>(operation.peer));
  const auto& told = peer.told_us;
  const bool is_send = (peer.stall.id & transport::stall_of_send) != 0;
  std::string own =
      half_of_deadlock(self, operation.context, is_send, operation.tag, operation.peer, operation.name);
  std::string other =
      half_of_deadlock(operation.peer, told.envelope.context, told.is_send, told.envelope.tag, self,
                       collective::describe_other(told.envelope.note, collective::Signature().packed()));
  if (operation.peer < self) std::swap(own, other);
  return concat("deadlock: ", own, ", ", other);
}

template <typename Type>
std::exception_ptr make(const std::string& what, const ErrorDetails& details) {
  return std::make_exception_ptr(Type(what, details));
}

}  // namespace

std::string duration_text(std::chrono::nanoseconds duration) {
  char text[32];
  const double seconds = std::chrono::duration<double>(duration).count();
  if (seconds >= 1)
    std::snprintf(text, sizeof(text), "%.1f s", seconds);
  else
    std::snprintf(text, sizeof(text), "%.0f ms", seconds * 1000);
  return text;
}

std::string near_misses(const FailedOperation& operation, Messenger& messenger) {
  std::vector<std::string> lines;
  std::size_t count = 0;
  const auto list = [&](bool of_peer) {
    messenger.visit_unmatched(operation.context, [&](const transport::Unexpected& message) {
      const auto source = static_cast<int>(message.envelope.source);
      if ((operation.peer < 0 || source == operation.peer) != of_peer) return;
      ++count;
      const bool is_fused = wireup::is_fused_batch_context(operation.context);
      const std::string tag = is_fused ? "" : concat("tag ", message.envelope.tag, ", ");
      const auto bytes = is_fused ? FusedTag::unpack(message.envelope.tag).bytes : message.message_bytes;
      if (lines.size() < listed_near_misses)
        lines.push_back(concat("from rank ", source, ": ", tag, bytes, " B, ", type_name(message.type_code)));
    });
  };
  list(true);  // those of the peer are nearest
  list(false);
  if (count == 0) return {};
  std::string text = concat(count, count == 1 ? " unmatched message " : " unmatched messages ");
  for (std::size_t i = 0; i < lines.size(); ++i) text += (i == 0 ? "" : "; ") + lines[i];
  return count > lines.size() ? text + "; ..." : text;
}

// Why its peer, to which there is no link yet, cannot be reached.
std::string missing_link(const FailedOperation& operation, const Messenger& messenger) {
  if (operation.peer < 0) return {};
  const auto number = static_cast<std::uint32_t>(operation.peer);
  const transport::Peer& peer = messenger.peer(number);
  if (peer.state != transport::PeerState::expected) return {};
  if (peer.dial.state == transport::DialState::asking)
    return "no link to it: the store, which has its address, has not answered yet";
  return peer.unreachable.empty() ? "" : "no link to it: " + peer.unreachable;
}

FailureFacts facts_of(const FailedOperation& operation, base::Status status, Messenger& messenger) {
  FailureFacts facts;
  facts.operation = operation;
  facts.status = status;
  facts.culprit = operation.peer;
  if (is_collective(operation)) {
    explain_collective(facts, messenger);
    if (status.code() == Code::deadlocked) facts.extra = deadlock_text(operation, messenger);
    return facts;
  }
  if (operation.peer >= 0)
    facts.culprit = static_cast<int>(messenger.peer(static_cast<std::uint32_t>(operation.peer)).culprit);
  else if (const auto& casualty = messenger.casualty_of(operation.context);
           status.scope() == base::Scope::peer && casualty)
    facts.culprit = static_cast<int>(casualty->culprit);
  switch (status.code()) {
    case Code::timed_out:
      facts.extra = missing_link(operation, messenger);  // then it has sent nothing
      if (facts.extra.empty()) facts.extra = near_misses(operation, messenger);
      break;
    case Code::deadlocked: facts.extra = deadlock_text(operation, messenger); break;
    case Code::gone:
    case Code::unreachable:
    case Code::refused:
      if (operation.peer >= 0)
        facts.extra = messenger.peer(static_cast<std::uint32_t>(operation.peer)).unreachable;
      break;
    case Code::aborted:
      if (const auto* record = messenger.abort_record(operation.context)) {
        facts.culprit = static_cast<int>(record->by);
        facts.extra = record->reason;
      }
      break;
    default: break;
  }
  return facts;
}

FailureFacts facts_of(const FailedOperation& operation, const Request& request, Messenger& messenger) {
  FailedOperation known = operation;
  if (request.peer != nullptr) known.peer = static_cast<int>(request.peer->number);
  // With whom a collective has a deadlock, its run tells so (api/collective/failing.cc).
  if (is_collective(operation) && request.status.code() == Code::deadlocked)
    known.peer = static_cast<int>(request.envelope.source);
  FailureFacts facts = facts_of(known, request.status, messenger);
  facts.message_bytes = request.message_bytes;
  facts.type_code = request.type_code;
  facts.remote_type_code = request.remote_type_code;
  if (request.started.time_since_epoch().count() != 0)
    facts.elapsed = std::chrono::steady_clock::now() - request.started;
  return facts;
}

namespace {

ErrorDetails details_of(const wireup::World& world, const FailureFacts& facts) {
  ErrorDetails details;
  details.rank = world.rank;
  details.peer = facts.operation.peer;
  details.culprit = facts.culprit;
  details.operation = facts.operation.name;
  details.tag = facts.operation.tag;
  details.bytes = facts.operation.bytes;
  details.message_bytes = facts.message_bytes;
  if (wireup::is_fused_batch_context(facts.operation.context)) {
    details.bytes = FusedTag::unpack(details.tag).bytes;
    details.tag = 0;
  }
  details.elapsed = facts.elapsed;
  const int named = facts.culprit >= 0 ? facts.culprit : facts.operation.peer;
  if (named < 0) return details;
  details.host = world.roster->topology().host_of(named).name;
  details.pid = world.roster->pid_of(named);
  return details;
}

// What follows the operation in the sentence: " timed out after 45 ms; 1 unmatched message ...".
std::string outcome_text(const wireup::World& world, const FailureFacts& facts) {
  if (std::string text = collective_outcome_text(world, facts); !text.empty()) return text;
  const std::string culprit = facts.culprit >= 0 ? world.name_of(facts.culprit) : "a rank";
  const std::string extra = facts.extra.empty() ? "" : "; " + facts.extra;
  const std::string status = facts.status.describe();
  const std::string cause = facts.status.native() != 0 ? concat(" (", status, ")") : "";
  switch (facts.status.code()) {
    case Code::cancelled: return " was cancelled";
    case Code::timed_out: return concat(" timed out after ", duration_text(facts.elapsed), extra);
    case Code::truncated:
      return concat(": the message has ", facts.message_bytes, " B, the buffer only ", facts.operation.bytes,
                    " B");
    case Code::mismatched:
      return concat(": the message is ", type_name(facts.remote_type_code), ", the tensor ",
                    type_name(facts.type_code));
    case Code::exhausted:
      return concat(": out of memory, or ", transport::max_envelopes, " sends to one rank are pending",
                    cause);
    case Code::peer_died:
      if (facts.culprit == facts.operation.peer || facts.operation.peer < 0)
        return concat(" failed: ", culprit, " died", cause);
      return concat(" failed: ", culprit, " died, and rank ", facts.operation.peer, " left because of it");
    case Code::peer_left: return concat(" failed: ", culprit, " has left the group");
    case Code::gone: return concat(" failed: ", culprit, " has died", extra);
    case Code::given_up:
      return concat(" failed: ", facts.culprit == world.rank ? "this rank" : culprit,
                    " gave up the link: an operation timed out in mid-transfer, or memory was short");
    case Code::protocol_violation:
      return concat(" failed: the link was closed, because ",
                    facts.culprit == world.rank ? "this rank" : culprit, " broke the protocol");
    case Code::unreachable:
    case Code::refused: return " failed: no link" + extra;
    case Code::aborted: return concat(" was aborted by ", culprit, ": ", facts.extra);
    case Code::closed: return ": the world was destroyed";
    default: return " failed: " + status;
  }
}

// What became of a rank that we never met, if it has told the store.
FailureFacts clear_up(const wireup::World& world, FailureFacts facts, wireup::Asker asker) {
  if (facts.status.code() != Code::gone) return facts;
  if (const auto word = wireup::find_last_word(world, facts.culprit, asker)) {
    facts.status = word->culprit ? Code::peer_died : Code::peer_left;
    facts.culprit = word->culprit.value_or(facts.culprit);
  }
  return facts;
}

}  // namespace

std::exception_ptr to_exception(const wireup::World& world, const FailureFacts& noted, wireup::Asker asker) {
  const FailureFacts facts = clear_up(world, noted, asker);
  const ErrorDetails details = details_of(world, facts);
  const std::string group = world.group_books.name_of(facts.operation.context);
  const std::string what = concat("rank ", world.rank, ": ", operation_text(world, facts.operation),
                                  group.empty() ? "" : concat(" in ", group), outcome_text(world, facts));
  switch (facts.status.code()) {
    case Code::cancelled: return make<CancelledError>(what, details);
    case Code::timed_out: return make<TimeoutError>(what, details);
    case Code::truncated: return make<TruncationError>(what, details);
    case Code::mismatched: return make<MismatchError>(what, details);
    case Code::deadlocked:
      PARLEY_LOG(error, "p2p", facts.extra);  // said even if the program swallows the error
      return make<DeadlockError>(facts.extra, details);
    case Code::exhausted: return make<ResourceError>(what, details);
    case Code::gone:
    case Code::peer_died: return make<PeerDiedError>(what, details);
    case Code::peer_left: return make<PeerLeftError>(what, details);
    case Code::given_up:
    case Code::protocol_violation: return make<LinkLostError>(what, details);
    case Code::unreachable:
    case Code::refused: return make<InitError>(what, details);
    case Code::aborted: return make<AbortedError>(what, details);
    case Code::closed: return make<UsageError>(what, details);
    default: return make<SystemError>(what, details);
  }
}

}  // namespace parley::detail
