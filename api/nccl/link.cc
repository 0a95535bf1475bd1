#include "api/nccl/link.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "api/collective/end_reason.h"
#include "transport/base/log.h"

namespace parley::nccl {

namespace {
// Links end within milliseconds of a death; a rank that has lost its core may be slow to look.
constexpr std::chrono::milliseconds patience_for_culprit{500};
}  // namespace

using base::Code;
using base::concat;
using collective::EndReason;
using collective::words;
using transport::AbortManner;
using transport::Messenger;
using transport::Request;

Link::Link(const Place& place)
    : place_(place),
      undertaker_(std::make_unique<Undertaker>(place.library, *place.port.api(), place.device,
                                               [this] { return is_idle(); })) {
  place_.engine.locked([this](Messenger& messenger) { messenger_ = &messenger; });
}

void Link::join(const UniqueId& id, const Membership& who) {
  const cuda::DeviceScope scope(*place_.port.api(), place_.device);
  const Result joined = place_.library.join(id, who, communicator_);
  place_.engine.locked([&](Messenger&) {
    state_ = State::joining;
    if (begin_watch()) note_result(joined);
  });
}

void Link::adopt(Communicator communicator) noexcept {
  communicator_ = communicator;
  is_in_reserve_ = true;
  state_ = State::joining;
  if (begin_watch()) look();
}

void Link::begin_use() noexcept {
  is_in_reserve_ = false;
  if (kept_abort_) end_collectives(*std::exchange(kept_abort_, std::nullopt));
}

Link::~Link() {
  if (place_.engine.in_forked_child()) {
    [[maybe_unused]] auto* undertaker_of_parent = undertaker_.release();
    return;
  }
  place_.engine.locked([&](Messenger&) {
    if (transport::AgentList::is_linked(*this)) transport::AgentList::remove(*this);
    const bool is_at_work = has_work();
    end_watch(Code::cancelled);
    for (const Mark* mark : {&mark_, &latest_})
      if (mark->event != nullptr) place_.port.desk(place_.device)->events.give_back(mark->event);
    if (state_ == State::over) return;
    const bool is_late = mark_.is_awaited && Clock::now() >= mark_.deadline;
    const bool is_well =
        state_ == State::ready && !is_late && messenger_->abort_record(place_.context) == nullptr &&
        next_number_ > 0;  // else there is nothing for which the others have to come to its end, too
    is_well ? undertaker_->finish(communicator_, is_at_work) : undertaker_->abort(communicator_);
  });
}

Link::State Link::look() noexcept {
  if (state_ == State::joining || state_ == State::launching || state_ == State::splitting)
    note_result(last_result());
  return state_;
}

std::string Link::describe() const {
  if (is_lost()) return why_lost_;
  switch (state_) {
    case State::empty:
    case State::joining: return "NCCL, which is still joining its ranks";
    case State::launching: return "NCCL, which is still connecting its ranks";
    case State::splitting: return "NCCL, which is still splitting the communicator";
    case State::ready: return "NCCL";
    case State::over: break;
  }
  return why_over_;
}

// How the last call about the communicator goes on, or went.
Result Link::last_result() noexcept {
  if (state_ == State::splitting && !has_split_returned_) {
    const auto result = undertaker_->split_result();
    has_split_returned_ = result.has_value();
    return result.value_or(Result::in_progress);
  }
  const cuda::DeviceScope scope(*place_.port.api(), place_.device);
  return place_.library.state(communicator_);
}

void Link::note_result(Result result) noexcept {
  if (lost_at_ || (result == Result::remote_error && communicator_ != nullptr)) return await_culprit(result);
  if (result == Result::in_progress) return;
  if (has_failed(result))
    return fail(words([&] { return concat("NCCL: ", place_.library.describe(result)); }));
  state_ = State::ready;
  if (!unmarked_stream_) return;
  const cuda::Code recorded = record_latest();
  if (recorded != cuda::Code::ok) fail(words([&] { return place_.port.api()->describe(recorded); }));
}

// A death is heard of by the end of a link to the dead, with its name.
void Link::await_culprit(Result result) noexcept {
  if (!lost_at_) {
    lost_at_ = Clock::now();
    why_lost_ = words([&] { return concat("NCCL: ", place_.library.describe(result)); });
    if (state_ == State::ready) state_ = State::launching;  // nothing more is told to it
  }
  if (Clock::now() - *lost_at_ >= patience_for_culprit && !ends_with_group()) fail(why_lost_);
}

Link::Clock::time_point Link::deadline_after(std::chrono::nanoseconds timeout) noexcept {
  const auto now = Clock::now();
  return timeout < Clock::time_point::max() - now ? now + timeout : Clock::time_point::max();
}

Link::State Link::note_told(Result result, cuda::Stream stream, std::chrono::nanoseconds timeout) noexcept {
  state_ = State::launching;
  unmarked_stream_ = stream;
  note_result(result);
  if (state_ == State::over) return state_;
  const auto deadline = deadline_after(timeout);
  // What comes before it has to end before it.
  if (mark_.is_awaited) mark_.deadline = std::min(mark_.deadline, deadline);
  latest_.deadline = has_more_ ? std::max(latest_.deadline, deadline) : deadline;
  has_more_ = true;
  if (watch_ == nullptr && !begin_watch()) return state_;
  if (state_ == State::ready) look_at_mark();
  return state_;
}

Link::State Link::split(const Division& part) noexcept {
  state_ = State::splitting;
  has_split_returned_ = false;
  undertaker_->split(communicator_, part);
  if (watch_ == nullptr) begin_watch();
  return state_;
}

// False: no memory, and it is over.
bool Link::begin_watch() noexcept {
  auto* const agent = static_cast<Agent*>(this);
  watch_ = messenger_->begin_composite({.context = place_.context,
                                        .agent = agent,
                                        .on_interrupt = on_interrupt,
                                        .timeout = std::chrono::nanoseconds::max()});
  if (watch_ == nullptr) fail("out of memory for the watch over NCCL");
  return watch_ != nullptr;
}

void Link::end_watch(base::Status status) noexcept {
  Request* const watch = std::exchange(watch_, nullptr);
  if (watch == nullptr) return;
  messenger_->end_composite(*watch, status);
  messenger_->release(*watch);
}

void Link::on_interrupt(Request& request) noexcept {
  Link& link = static_cast<Link&>(*static_cast<Agent*>(request.agent));
  link.place_.engine.wake(link);
}

// What interrupts it is a death, an abort, or that another second has passed.
void Link::advance() noexcept {
  if (watch_ == nullptr || state_ == State::over || ends_with_group()) return;
  note_result(last_result());
  if (state_ == State::ready) look_at_mark();
  if (is_lost()) place_.engine.wake_later(*this);
}

// An abort or a death has ended the group's collectives, and this with them.
bool Link::ends_with_group() noexcept {
  if (const auto* record = messenger_->abort_record(place_.context); record != nullptr) {
    note_why("the group's collectives were aborted");
    end_badly();
    return true;
  }
  const auto& casualty = messenger_->casualty_of(place_.context);
  // `closed`: it is we who leave, and what the device still does ends well.
  if (casualty && messenger_->peer(casualty->peer).reason.code() != Code::closed) {
    note_why("a member died");
    end_collectives({casualty->culprit, EndReason{EndReason::Kind::died}.encoded(), AbortManner::bereaved});
    end_badly();
    return true;
  }
  return false;
}

// Nobody watches where nothing is on its way. REQUIRES: ready.
void Link::look_at_mark() noexcept {
  cuda::Api& api = *place_.port.api();
  const cuda::DeviceScope scope(api, place_.device);
  if (mark_.is_awaited) {
    const cuda::Code reached = api.query(mark_.event);
    if (reached == cuda::Code::not_ready) {
      if (Clock::now() >= mark_.deadline) {
        const EndReason reason{EndReason::Kind::timed_out,
                               "NCCL's work on the device, for which all ranks had come"};
        note_why("the device did not end its work in time");
        end_collectives({messenger_->options().self, reason.encoded(), AbortManner::gentle});
        end_badly();
      }
      return;
    }
    place_.port.desk(place_.device)->events.give_back(mark_.event);
    mark_ = {};
    if (reached != cuda::Code::ok) return fail(words([&] { return api.describe(reached); }));
  }
  if (!has_more_) return end_watch({});
  mark_ = std::exchange(latest_, {});
  mark_.is_awaited = true;
  has_more_ = false;
}

bool Link::is_idle() noexcept {
  if (watch_ == nullptr || look() == State::over || state_ == State::joining) return true;
  if (state_ == State::ready) look_at_mark();
  return watch_ == nullptr;
}

// The same without a change of anything, for what ends: what comes after the mark may be done already.
bool Link::has_work() noexcept {
  if (watch_ == nullptr || state_ == State::joining) return false;
  const cuda::DeviceScope scope(*place_.port.api(), place_.device);
  return has_more_ || (mark_.is_awaited && place_.port.api()->query(mark_.event) == cuda::Code::not_ready);
}

// Behind all that was told so far.
cuda::Code Link::record_latest() noexcept {
  const cuda::DeviceScope scope(*place_.port.api(), place_.device);
  transport::cuda_ipc::Port::Desk* const desk = place_.port.desk(place_.device);
  if (desk == nullptr) return cuda::Code::out_of_memory;
  if (latest_.event == nullptr) {
    if (const cuda::Code taken = desk->events.take(latest_.event); taken != cuda::Code::ok) {
      latest_.event = nullptr;
      return taken;
    }
  }
  return place_.port.api()->record(latest_.event, *std::exchange(unmarked_stream_, std::nullopt));
}

void Link::give_up(std::string_view absent) noexcept {
  if (state_ == State::over) return;
  why_over_ = words([&] { return absent.empty() ? describe() : std::string(absent); });
  const std::string text = words([this] { return "it waited for " + why_over_; });
  end_collectives({messenger_->options().self, EndReason{EndReason::Kind::timed_out, text}.encoded(),
                   AbortManner::gentle});
  end_badly();
}

void Link::fail(std::string_view why) noexcept {
  if (state_ == State::over) return;
  note_why(why);
  end_collectives({messenger_->options().self, EndReason{EndReason::Kind::aborted, why_over_}.encoded(),
                   AbortManner::gentle});
  end_badly();
}

void Link::end_collectives(Abort abort) noexcept {
  if (is_in_reserve_) {
    if (base::log_enabled(LogLevel::info, "cuda"))
      base::log_line(LogLevel::info, "cuda", words([this] {
                       return concat("an NCCL communicator that was split off has ended before its use: ",
                                     why_over_);
                     }));
    kept_abort_ = std::move(abort);
    return;
  }
  if (messenger_->abort_context(place_.context, abort.by, abort.reason, abort.manner)) return;
  if (base::log_enabled(LogLevel::error, "collective"))
    base::log_line(LogLevel::error, "collective",
                   "out of memory for telling the others that NCCL has failed");
}

void Link::note_why(std::string_view why) noexcept {
  why_over_ = words([why] { return std::string(why); });
}

void Link::end_badly() noexcept {
  state_ = State::over;
  undertaker_->abort(std::exchange(communicator_, nullptr));
  end_watch(Code::aborted);
}

}  // namespace parley::nccl
