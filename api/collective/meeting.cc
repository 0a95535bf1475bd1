#include "api/collective/meeting.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <new>
#include <string>
#include <utility>

#include "api/schedule/builder.h"
#include "api/schedule/catalogue.h"
#include "api/schedule/hosts.h"
#include "api/schedule/linear.h"
#include "api/schedule/selection.h"
#include "transport/base/log.h"

namespace parley::collective {

using schedule::Operation;
using Sight = transport::Neighbour::Sight;

namespace {

// A line that the reader's core has just read takes the writer two to four times as long to write as one that
// has left its caches: so few ranks use many stages in turn. Where ranks share cores each mark costs switches
// of contexts, so there are fewer, larger ones; some of the readers share the writer's core, too, and find in
// its caches what is small. But a rank there that only shows something goes on to the next calls before it
// gives the core away. Of many ranks each has less, for all map it.
constexpr Commons::Sets with_cores{{std::size_t{256} << 10, 8}};
constexpr Commons::Sets without_cores{{std::size_t{1} << 20, 2, std::size_t{128} << 10},
                                      {std::size_t{256} << 10, 8, std::size_t{32} << 10}};
constexpr Commons::Sets many_with_cores{{std::size_t{256} << 10, 2}};
constexpr Commons::Sets many_without_cores{many_with_cores.usual,
                                           {std::size_t{64} << 10, 8, std::size_t{8} << 10}};
constexpr std::size_t few_ranks = 4, many_ranks = 8;

schedule::Shape shape_for(const Team& team, std::size_t bytes) {
  const auto ranks = static_cast<std::uint32_t>(team.processes.size());
  return {.rank = team.rank, .size = ranks, .count = bytes, .hosts = team.hosts};
}

// An all_gather of `bytes` from each rank of our host.
PlanHandle plan_for_host(const Team& team, std::size_t bytes) {
  const schedule::Shape shape = shape_for(team, bytes);
  const schedule::Team local = schedule::Hosts(shape).local();
  schedule::Builder builder(Operation::all_gather, shape);
  const schedule::Blocks blocks(builder.output().part(0, local.size() * bytes), local.size());
  schedule::linear_all_gather(builder, local, blocks, builder.input());
  return plan_of(builder.finish(), shape.size, 1);
}

// The same of all ranks of the group.
PlanHandle plan_for_all(const Team& team, std::size_t bytes) {
  schedule::Request request{.operation = Operation::all_gather, .shape = shape_for(team, bytes)};
  request.element_bytes = 1;
  request.surroundings = team.surroundings;
  const schedule::Candidate chosen = schedule::select(request, {}).chosen;
  request.shape.segment_count = chosen.segment_count;
  return plan_of(schedule::make(Operation::all_gather, chosen.algorithm, request.shape), request.shape.size,
                 1);
}

}  // namespace

Meeting::Meeting(const Lane& lane, ScratchPool& scratch, std::uint32_t ranks_here,
                 std::function<void()> on_over)
    : lane_(lane),
      ranks_here_(ranks_here),
      on_over_(std::move(on_over)),
      greeting_(lane, scratch),
      telling_(lane, scratch),
      agreement_(lane, scratch) {}

Meeting::~Meeting() {
  if (transport::AgentList::is_linked(*this)) transport::AgentList::remove(*this);
  if (transport::WatcherList::is_linked(*this)) transport::WatcherList::remove(*this);
  if (!lane_.engine.in_forked_child()) give_back_board();  // the board is the parent's
}

// Others who keep theirs do so until we have done with them.
void Meeting::give_back_board() noexcept {
  if (commons_ != nullptr) commons_->leave();
  commons_.reset();
  if (board_ != nullptr) Commons::leave(board_.get());
  board_.reset();
}

Commons::Sets Meeting::stage_sets() const noexcept {
  if (lane_.team.surroundings.ranks_per_core > 1)
    return ranks_here_ > many_ranks ? many_without_cores : without_cores;
  return ranks_here_ > few_ranks ? many_with_cores : with_cores;
}

void Meeting::supply(std::shared_ptr<std::byte> board) noexcept {
  is_supplied_ = true;
  board_ = std::move(board);
  if (board_ != nullptr) Commons::prepare(board_.get());
}

void Meeting::begin(transport::Messenger& messenger) {
  messenger_ = &messenger;
  plan_for_greeting_ = plan_for_host(lane_.team, sizeof own_word_);
  plan_for_telling_ = plan_for_host(lane_.team, sizeof own_card_);
  plan_for_agreement_ = plan_for_all(lane_.team, sizeof own_word_);
  here_ = lane_.team.neighbours;
  here_.insert(std::lower_bound(here_.begin(), here_.end(), lane_.team.rank), lane_.team.rank);
  words_.resize(lane_.team.processes.size());
  cards_.resize(here_.size());
  waiting_.reserve(here_.size());
  state_ = State::introducing;
  lane_.sharing.meeting = this;
  const Signature signature{.operation = Operation::all_gather, .dtype = DType::bytes, .is_meeting = true};
  const std::int64_t first = lane_.history.begin(signature);
  second_number_ = lane_.history.begin(signature);
  third_number_ = lane_.history.begin(signature);
  start(greeting_, first, plan_for_greeting_, {&own_word_, words_.data(), sizeof own_word_, here_.size()});
}

void Meeting::start(Run& run, std::int64_t number, const PlanHandle& plan, const Blocks& blocks) noexcept {
  call_ = Call();
  call_.signature = {.operation = Operation::all_gather, .dtype = DType::bytes, .is_meeting = true};
  call_.question.operation = Operation::all_gather;
  call_.question.count = blocks.bytes;
  call_.input = static_cast<const std::byte*>(blocks.own);
  call_.output = static_cast<std::byte*>(blocks.all);
  call_.input_count = blocks.bytes;
  call_.output_count = blocks.bytes * blocks.count;
  call_.timeout = std::chrono::nanoseconds::max();  // those who wait for it have deadlines
  call_.number = number;
  run_has_ended_ = false;
  under_way_ = &run;
  const transport::Posted posted = run.start_borrowed(*messenger_, call_, plan);
  if (posted.request == nullptr) {
    has_failed_ = true;
    return lane_.engine.wake(*this);
  }
  transport::Request& request = *posted.request;
  if (request.state == transport::RequestState::done) {
    has_failed_ = has_failed_ || request.status.failed();
    run_has_ended_ = true;
    messenger_->release(request);
    return lane_.engine.wake(*this);
  }
  request.user = this;
  request.on_done = on_run_done;
}

void Meeting::on_run_done(transport::Request& request) noexcept {
  Meeting& meeting = *static_cast<Meeting*>(request.user);
  meeting.run_has_ended_ = true;
  meeting.has_failed_ = meeting.has_failed_ || request.status.failed();
  request.released = true;
  meeting.lane_.engine.wake(meeting);
}

void Meeting::advance() noexcept {
  if (has_failed_ || messenger_->abort_record(lane_.context) != nullptr) return end();
  switch (state_) {
    case State::introducing:
      if (!run_has_ended_) return;
      under_way_ = nullptr;
      state_ = State::showing;
      [[fallthrough]];
    case State::showing: return show();
    case State::telling:
      if (run_has_ended_) map();
      return;
    case State::agreeing:
      if (run_has_ended_) end();
      return;
    case State::none:
    case State::over: return;
  }
}

void Meeting::show() noexcept {
  waiting_.clear();
  if (board_ == nullptr) return tell();
  const base::ConstMemoryRef board{board_.get(), board_bytes()};
  for (const std::uint32_t rank : lane_.team.neighbours) {
    transport::Neighbour* const other = neighbour(rank);
    const auto key = other == nullptr ? std::nullopt : other->key_of(board);
    if (!key) return tell();
    own_card_.key = *key;  // the same for all
    const Sight sight = other->show(board);
    if (sight == Sight::refuses) return tell();
    if (sight == Sight::asked) waiting_.push_back(rank);  // there is room
  }
  if (!waiting_.empty()) return lane_.engine.watch(*this);
  own_card_.is_seen = true;
  tell();
}

// Their answers come by the links, each of which is looked at before.
bool Meeting::look() noexcept {
  const base::ConstMemoryRef board{board_.get(), board_bytes()};
  const auto has_answered = [&](std::uint32_t rank) {
    transport::Neighbour* const other = neighbour(rank);
    return other == nullptr || other->show(board) != Sight::asked;
  };
  const bool has_news = messenger_->abort_record(lane_.context) != nullptr ||
                        std::any_of(waiting_.begin(), waiting_.end(), has_answered);
  if (has_news) lane_.engine.wake(*this);
  return has_news;
}

void Meeting::tell() noexcept {
  if (transport::WatcherList::is_linked(*this)) transport::WatcherList::remove(*this);
  state_ = State::telling;
  waiting_.clear();
  start(telling_, second_number_, plan_for_telling_,
        {&own_card_, cards_.data(), sizeof own_card_, cards_.size()});
}

// Whose board is seen by all others of the host has shown it here, too, before he told so.
std::unique_ptr<Commons> Meeting::make_commons() {
  if (!std::all_of(cards_.begin(), cards_.end(), [](const Card& card) { return card.is_seen; }))
    return nullptr;
  const std::size_t bytes = board_bytes();
  std::vector<Commons::Other> others(lane_.team.processes.size());
  for (std::size_t i = 0; i < here_.size(); ++i) {
    const std::uint32_t rank = here_[i];
    if (rank == lane_.team.rank) continue;
    transport::Neighbour* const other = neighbour(rank);
    if (other == nullptr) return nullptr;
    others[rank] = {other->look(cards_[i].key, bytes), other->sleep_word()};
    const std::byte* const board = others[rank].board.get();
    if (board == nullptr || reinterpret_cast<std::uintptr_t>(board) % sizeof(BoardSlot) != 0) return nullptr;
  }
  auto commons = std::make_unique<Commons>(lane_.team, stage_sets(), board_, std::move(others));
  board_.reset();
  return commons;
}

void Meeting::map() noexcept {
  try {
    commons_ = make_commons();
  } catch (const std::bad_alloc&) {  // then we have not
  }
  own_word_ = commons_ != nullptr ? std::byte{1} : std::byte{0};
  state_ = State::agreeing;
  start(agreement_, third_number_, plan_for_agreement_,
        {&own_word_, words_.data(), sizeof own_word_, words_.size()});
}

void Meeting::end() noexcept {
  if (state_ == State::over) return;
  const bool has_ended_well = !has_failed_ && state_ == State::agreeing && run_has_ended_;
  // The others wait for what could not be begun here.
  if (has_failed_ && messenger_->abort_record(lane_.context) == nullptr) {
    const EndReason reason{EndReason::Kind::aborted, "a rank has no memory for the meeting of its group"};
    (void)messenger_->abort_context(lane_.context, messenger_->options().self, reason.encoded(),
                                    transport::AbortManner::gentle);
  }
  const bool is_agreed = has_ended_well && std::all_of(words_.begin(), words_.end(),
                                                       [](std::byte word) { return word != std::byte{0}; });
  if (is_agreed) lane_.sharing.commons = std::move(commons_);
  // Others may have heard of it all, and read our board before they hear what came then.
  const bool may_be_read = commons_ != nullptr && state_ == State::agreeing && !has_ended_well;
  if (!may_be_read) give_back_board();
  if (transport::WatcherList::is_linked(*this)) transport::WatcherList::remove(*this);
  state_ = State::over;
  under_way_ = nullptr;
  on_over_();
  lane_.sharing.meeting = nullptr;
}

transport::Agent::Awaited Meeting::awaited() const noexcept {
  return under_way_ != nullptr ? under_way_->awaited() : Awaited{};
}

std::string Meeting::waited_for() const {
  if (under_way_ != nullptr) return under_way_->waited_for();
  std::string ranks;
  for (const std::uint32_t rank : waiting_)
    ranks += (ranks.empty() ? "" : ", ") + std::to_string(lane_.team.processes[rank]);
  if (ranks.empty()) return ranks;
  return (waiting_.size() == 1 ? "rank " : "ranks ") + ranks;
}

}  // namespace parley::collective
