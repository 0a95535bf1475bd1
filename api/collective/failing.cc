// How a run fails: for all ranks of its group at once, by an abort of the context that says why.
//
// Whoever finds a reason tells all others; whoever hears of it ends, too, and so does every later call in the
// group: nobody waits for a rank that has given up, and no message of the broken call meets a later one.
#include <exception>
#include <utility>

#include "api/collective/run.h"
#include "transport/base/log.h"

namespace parley::collective {

using base::Code;
using base::concat;
using base::Status;
using Kind = EndReason::Kind;

void Run::on_interrupt(transport::Request& request) noexcept {
  Run& run = *static_cast<Run*>(request.user);
  run.is_interrupted_ = true;
  run.lane_.engine.wake(run);
}

// REQUIRES: interrupted, or a part has failed.
void Run::look_for_failure() noexcept {
  if (state_ != State::running) return;
  if (messenger_->abort_record(lane_.context) != nullptr) {
    state_ = State::failing;  // all parts are being ended
  } else if (request_->ending.code() == Code::timed_out) {
    const std::string text = concat(title(), " timed out there", waited_for());
    abort({Kind::timed_out, text}, messenger_->options().self);
  } else if (failure_) {
    fail_with(*failure_);
  } else if (const auto& casualty = messenger_->casualty_of(lane_.context)) {
    abort({Kind::died}, casualty->culprit);
  } else {
    is_interrupted_ = false;  // somebody has taken note of that death meanwhile
  }
}

void Run::fail_with(const Failure& failure) noexcept {
  const std::uint32_t self = messenger_->options().self;
  if (failure.is_mismatch) {
    const std::string text =
        concat("rank ", failure.peer->number, " has called ", describe_other(failure.note, call_.signature),
               ", rank ", self, " ", title());
    return abort({Kind::mismatched, text}, self);
  }
  switch (failure.status.code()) {
    case Code::peer_died:
    case Code::gone: return abort({Kind::died}, failure.peer->culprit);
    case Code::peer_left: return abort({Kind::left}, failure.peer->culprit);
    default: {
      const std::string text =
          concat(title(), " failed there with ", failure.peer->title, ": ", failure.status.describe());
      return abort({Kind::aborted, text}, self);
    }
  }
}

void Run::abort(const EndReason& reason, std::uint32_t by) noexcept {
  state_ = State::failing;
  if (!messenger_->abort_context(lane_.context, by, reason.encoded()))
    PARLEY_LOG(error, "p2p", "out of memory for telling the others that a collective has failed");
}

// "all_reduce(sum) of 8 f32 (call 3 of the group)".
std::string Run::title() const {
  return concat(describe(call_.signature), " (call ", sequence_, " of the group)");
}

// "; it waited for ranks 2, 5". Empty: for none.
std::string Run::waited_for() const {
  std::string ranks;
  for (const Part& part : parts_) {
    if (!part.is_under_way) continue;
    const std::uint32_t process = lane_.team.processes[plan_->schedule.steps[part.step].peer];
    const std::string number = std::to_string(process);
    if ((", " + ranks + ", ").find(", " + number + ", ") != std::string::npos) continue;
    ranks += (ranks.empty() ? "" : ", ") + number;
  }
  return ranks.empty()
             ? ""
             : concat("; it waited for ", ranks.find(',') == std::string::npos ? "rank " : "ranks ", ranks);
}

}  // namespace parley::collective
