// How a run fails: for all ranks of its group at once, by an abort of the context that says why.
//
// Whoever finds a reason tells all others; whoever hears of it ends, too, and so does every later call in the
// group: nobody waits for a rank that has given up, and no message of the broken call meets a later one.
#include <algorithm>
#include <chrono>
#include <exception>
#include <new>
#include <utility>

#include "api/collective/run.h"
#include "transport/base/log.h"

namespace parley::collective {

using base::Code;
using base::concat;
using base::Status;
using transport::AbortManner;
using transport::RequestState;
using Kind = EndReason::Kind;

namespace {
constexpr auto patience = std::chrono::seconds(10);

// A member may also leave because of the death of somebody else: what it has sent before still counts.
bool is_of(const Team& team, std::uint32_t process) noexcept {
  return std::find(team.processes.begin(), team.processes.end(), process) != team.processes.end();
}
}  // namespace

void Run::on_interrupt(transport::Request& request) noexcept {
  Run& run = static_cast<Run&>(*static_cast<Agent*>(request.agent));
  run.is_interrupted_ = true;
  run.lane_.engine.wake(run);
}

// REQUIRES: interrupted, or a part has failed.
void Run::look_for_failure() noexcept {
  if (state_ != State::running && state_ != State::undecided) return;
  if (messenger_->abort_record(lane_.context) != nullptr) {
    state_ = State::failing;  // all parts are being ended
  } else if (request_->ending.code() == Code::timed_out) {
    const std::string text = words([this] {
      const std::string ranks = waited_for();
      return concat(title(), ranks.empty() ? "" : "; it waited for ", ranks);
    });
    abort({Kind::timed_out, text}, messenger_->options().self);
  } else if (failure_) {
    fail_with(*failure_);
  } else if (const auto& casualty = messenger_->casualty_of(lane_.context);
             casualty && is_of(lane_.team, casualty->culprit)) {
    if (casualty->culprit == messenger_->options().self)  // we leave ourselves
      return fail_with({Code::closed, &messenger_->peer(casualty->peer)});
    abort({Kind::died}, casualty->culprit);
  } else {
    is_interrupted_ = false;  // another second, or somebody has taken note of a death meanwhile
    look_after_a_second();
  }
}

// Perhaps another rank waits, and what tells why has come; and after a while people want to know.
void Run::look_after_a_second() noexcept {
  try {
    lane_.history.look_for_strays(*messenger_);
  } catch (const std::bad_alloc&) {
    return;  // the next second
  }
  if (is_interrupted_) return look_for_failure();
  if (!awaited_.empty()) {
    lane_.sharing.commons->tell_waiting(sequence_);
    look_at_first_turn();
    if (!collect_marks()) probe();
  } else if (state_ == State::running && plan_->schedule.turns == 0) {
    look_at_boards();
  }
  if (failure_) return look_for_failure();
  if (request_->seconds != patience.count() || std::exchange(has_told_, true)) return;
  const auto and_for_whom = [this] {
    const std::string ranks = waited_for();
    return ranks.empty() ? ranks : " and waits for " + ranks;
  };
  PARLEY_LOG(warn, "collective", "rank ", messenger_->options().self, " has been in ", title(), " for ",
             patience.count(), " s", and_for_whom());
}

void Run::fail_with(const Failure& failure) noexcept {
  const std::uint32_t self = messenger_->options().self;
  if (failure.is_mismatch && failure.is_of_another_call) {
    const std::string text = words([&] {
      return concat("rank ", failure.peer->number, " has called ", describe_other(failure.note, note_),
                    " in its place among its calls, rank ", self, " something else, before or in ", title());
    });
    return abort({Kind::mismatched, text}, self);
  }
  if (failure.is_mismatch) {
    const std::string text = words([&] {
      return concat("rank ", failure.peer->number, " has called ", describe_other(failure.note, note_),
                    ", rank ", self, " ", title());
    });
    return abort({Kind::mismatched, text}, self);
  }
  switch (failure.status.code()) {
    case Code::peer_died:
    case Code::gone: return abort({Kind::died}, failure.peer->culprit);
    case Code::peer_left: return abort({Kind::left}, failure.peer->number);  // perhaps this group only
    case Code::deadlocked: {
      request_->ending = failure.status;                 // stronger than the abort
      request_->envelope.source = failure.peer->number;  // for the error
      const std::string text = words([&] {
        return concat(title(), " and what rank ", failure.peer->number,
                      " does meanwhile wait for each other");
      });
      return abort({Kind::aborted, text}, self);
    }
    case Code::device_failed: {
      const std::string text =
          words([&] { return concat(title(), " failed there: ", failure.status.describe()); });
      return abort({Kind::aborted, text}, self);
    }
    default: {
      const std::string text = words([&] {
        return concat(title(), " failed there with ", failure.peer->title, ": ", failure.status.describe());
      });
      return abort({Kind::aborted, text}, self);
    }
  }
}

void Run::fail_errand() noexcept {
  const std::string text =
      words([this] { return concat(title(), " failed there: ", call_->errand->describe()); });
  abort({Kind::aborted, text}, messenger_->options().self);
}

void Run::abort(const EndReason& reason, std::uint32_t by) noexcept {
  state_ = State::failing;
  if (transport::WatcherList::is_linked(*this)) transport::WatcherList::remove(*this);
  const auto manner = reason.kind == Kind::died ? AbortManner::bereaved : AbortManner::gentle;
  if (messenger_->abort_context(lane_.context, by, reason.encoded(), manner)) return;
  if (base::log_enabled(LogLevel::error, "collective"))
    base::log_line(LogLevel::error, "collective",
                   "out of memory for telling the others that a collective has failed");
}

// Best one whose peer waits for us in something else.
transport::Agent::Awaited Run::awaited() const noexcept {
  if (state_ == State::undecided) return lane_.sharing.meeting->awaited();
  if (RunList::is_linked(*this) && !has_turn()) return lane_.sharing.turns.front()->awaited();
  Awaited best{nullptr, note_, parts_under_way_};
  const auto look_at = [&](const Part& part) {
    transport::Request* const request = part.request;
    const bool is_unmatched = request != nullptr && (request->state == RequestState::posted ||
                                                     request->state == RequestState::offered);
    if (!is_unmatched || request->peer == nullptr) return;
    const auto& told = request->peer->told_us;
    const bool waits_for_us = told.valid && told.envelope.context != lane_.context;
    if (best.request == nullptr || waits_for_us) best.request = request;
  };
  std::for_each(parts_.begin(), parts_.end(), look_at);
  std::for_each(probes_.begin(), probes_.end(), look_at);
  return best;
}

// "all_reduce(sum) of 8 f32 (call 3 of the group)".
std::string Run::title() const {
  return concat(describe(call_->signature), " (call ", sequence_, " of the group)");
}

std::string Run::waited_for() const {
  if (state_ == State::undecided) return lane_.sharing.meeting->waited_for();
  if (RunList::is_linked(*this) && !has_turn()) return lane_.sharing.turns.front()->waited_for();
  std::string ranks;
  const auto add = [&](std::uint32_t rank) {
    const std::string number = std::to_string(lane_.team.processes[rank]);
    if ((", " + ranks + ", ").find(", " + number + ", ") != std::string::npos) return;
    ranks += (ranks.empty() ? "" : ", ") + number;
  };
  for (const Part& part : parts_)
    if (part.request != nullptr) add(plan_->schedule.steps[part.step].peer);
  visit_missing(add);
  if (const auto owner = loans_.withdrawn_by()) add(*owner);  // its abort has not come
  if (ranks.empty()) return has_errand_ ? call_->errand->describe() : std::string();
  return (ranks.find(',') == std::string::npos ? "rank " : "ranks ") + ranks;
}

}  // namespace parley::collective
