#include "api/collective/channel.h"

#include <algorithm>
#include <new>
#include <utility>

namespace parley::collective {

using base::Code;

namespace {
std::uint32_t most_ranks_of_a_host(const Team& team) {
  return schedule::largest_host(
      {.size = static_cast<std::uint32_t>(team.processes.size()), .hosts = team.hosts});
}

bool is_idle(const std::unique_ptr<Run>& run) noexcept {
  return run->is_idle();
}
}  // namespace

Channel::Channel(transport::Engine& engine, std::uint32_t context, Team team,
                 const schedule::Overrides& overrides, bool has_arena)
    : team_(std::move(team)),
      lane_{engine, team_, context, history_, sharing_},
      plans_(team_, overrides),
      history_(context) {
  runs_.reserve(most_under_way);
  const std::uint32_t ranks = most_ranks_of_a_host(team_);
  const bool share_memory = team_.surroundings.near == schedule::Link::shared_memory;
  if (has_arena && share_memory && ranks > 1 && ranks <= most_neighbours) {
    sharing_.stores = StoreChoices(team_.processes.size());
    meeting_ = std::make_unique<Meeting>(lane_, scratch_, ranks, [this] { settle_all(); });
    calls_ = 0;
  }
}

// The ranks have met.
void Channel::settle_all() noexcept {
  calls_ = calls_before_meeting + 1;
  if (sharing_.commons != nullptr) plans_.share_memory(sharing_.commons->room());
  while (Run* const run = sharing_.undecided.front()) {
    try {
      run->settle(plans_.find(run->question()));
    } catch (const std::bad_alloc&) {
      run->settle(nullptr);
    }
  }
}

[[gnu::hot]] transport::Posted Channel::begin(transport::Messenger& messenger, Call&& call) noexcept {
  const auto start = [&](Run& run, const PlanHandle& plan) {
    return run.start(messenger, std::move(call), plan);
  };
  return begin_by(start, messenger, call.question);
}

[[gnu::hot]] transport::Posted Channel::begin_borrowed(transport::Messenger& messenger,
                                                       const Call& call) noexcept {
  const auto start = [&](Run& run, const PlanHandle& plan) {
    return run.start_borrowed(messenger, call, plan);
  };
  return begin_by(start, messenger, call.question);
}

template <typename Start>
transport::Posted Channel::begin_by(const Start& start, transport::Messenger& messenger,
                                    const Question& question) noexcept {
  if (sharing_.commons != nullptr) sharing_.commons->fetch_next_line();
  try {
    history_.look_for_strays(messenger);
    if (!have_met()) [[unlikely]]
      return begin_unmet(start, messenger, question);
    return start(idle_run(), plans_.find(question));
  } catch (const std::bad_alloc&) {
    return {Code::exhausted};
  }
}

template <typename Start>
[[gnu::cold]] transport::Posted Channel::begin_unmet(const Start& start, transport::Messenger& messenger,
                                                     const Question& question) {
  // Those on devices would not wait for the meeting: a rank might leave after one, in the middle of it.
  if (!question.on_host) return start(idle_run(), plans_.find(question));
  if (is_meeting_due()) meeting_->begin(messenger);
  if (calls_ == calls_before_meeting) return start(idle_run(), nullptr);
  const transport::Posted posted = start(idle_run(), plans_.find(question));
  if (calls_ < calls_before_meeting && posted.request != nullptr) ++calls_;
  return posted;
}

// The first one, which is the one used last: it has the plan, if calls repeat themselves.
inline Run& Channel::idle_run() {
  if (usual_run_ != nullptr && usual_run_->is_idle()) [[likely]]
    return *usual_run_;
  return another_run();
}

Run& Channel::another_run() {
  auto run = std::find_if(runs_.begin(), runs_.end(), is_idle);
  if (run == runs_.end()) {
    runs_.push_back(std::make_unique<Run>(lane_, scratch_));
    run = runs_.end() - 1;
    usual_run_ = runs_.front().get();
  }
  return **run;
}

std::size_t Channel::under_way() const noexcept {
  return static_cast<std::size_t>(
      std::count_if(runs_.begin(), runs_.end(), [](const auto& run) { return !run->is_idle(); }));
}

}  // namespace parley::collective
