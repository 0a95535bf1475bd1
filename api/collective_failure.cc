#include "api/collective_failure.h"

#include "transport/base/log.h"

namespace parley::detail {

using base::Code;
using base::concat;
using collective::EndReason;
using Kind = EndReason::Kind;

bool is_collective(const FailedOperation& operation) noexcept {
  return operation.context != 0 && wireup::is_collective_context(operation.context);
}

void explain_collective(FailureFacts& facts, const transport::Messenger& messenger) {
  const Code code = facts.status.code();
  const transport::AbortRecord* record = messenger.abort_record(facts.operation.context);
  if (record == nullptr || (code != Code::aborted && code != Code::timed_out)) return;
  const auto reason = EndReason::decode(record->reason);
  const bool is_ours = record->by == messenger.options().self;
  facts.end_of_collectives = reason.kind;
  facts.extra = reason.text;
  facts.culprit = static_cast<int>(record->by);
  switch (reason.kind) {
    case Kind::mismatched:
      facts.status = Code::mismatched;
      facts.culprit = -1;  // who is right, none of them knows
      break;
    case Kind::died: facts.status = Code::peer_died; break;
    case Kind::left: facts.status = Code::peer_left; break;
    case Kind::timed_out:
      if (is_ours) facts.status = Code::timed_out;
      break;
    case Kind::aborted: facts.status = Code::aborted; break;
  }
}

std::string collective_outcome_text(const wireup::World& world, const FailureFacts& facts) {
  if (!facts.end_of_collectives) return {};
  const bool is_ours = facts.culprit == world.rank;
  const std::string culprit = facts.culprit >= 0 ? world.name_of(facts.culprit) : "a rank";
  switch (*facts.end_of_collectives) {
    case Kind::mismatched: return concat(" failed: ranks have called different things: ", facts.extra);
    case Kind::timed_out:
      if (facts.status.code() != Code::timed_out)
        return concat(" was given up by ", culprit, ", where the deadline has passed: ", facts.extra);
      if (facts.elapsed.count() == 0) return concat(" failed: it has timed out here before: ", facts.extra);
      return concat(" timed out after ", duration_text(facts.elapsed), is_ours ? ": " : "; so did ",
                    is_ours ? "" : culprit + ": ", facts.extra);
    case Kind::aborted:
    case Kind::died:
    case Kind::left: return {};
  }
  return {};
}

}  // namespace parley::detail
