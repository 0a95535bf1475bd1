#include "api/launch/node_end.h"

namespace parley::launch {

NodeOutcome outcome_of(const JobEnd& end, int node, const std::string& sentence) {
  NodeOutcome outcome{.node = node, .where = end.where, .sentence = sentence};
  switch (end.cause) {
    case Cause::all_done: break;
    case Cause::rank_failed:
      outcome.kind = NodeOutcome::Kind::failed;
      outcome.exit_code = end.exit_code();
      break;
    case Cause::timed_out:
      outcome.kind = NodeOutcome::Kind::timed_out;
      outcome.exit_code = exit_timed_out;
      break;
    case Cause::interrupted:
      outcome.kind = NodeOutcome::Kind::interrupted;
      outcome.signal_number = end.interrupt;
      break;
  }
  return outcome;
}

void adopt(JobEnd& end, const NodeOutcome& outcome) {
  end.culprit = -1;
  end.late.clear();
  end.interrupt = outcome.signal_number;
  end.elsewhere = Elsewhere{outcome.where, outcome.sentence, outcome.exit_code};
  switch (outcome.kind) {
    case NodeOutcome::Kind::all_done:
      end.cause = Cause::all_done;
      end.elsewhere.reset();
      break;
    case NodeOutcome::Kind::failed: end.cause = Cause::rank_failed; break;
    case NodeOutcome::Kind::timed_out: end.cause = Cause::timed_out; break;
    case NodeOutcome::Kind::interrupted: end.cause = Cause::interrupted; break;
  }
}

}  // namespace parley::launch
