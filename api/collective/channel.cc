#include "api/collective/channel.h"

#include <algorithm>
#include <new>
#include <utility>

namespace parley::collective {

using base::Code;

namespace {
bool is_idle(const std::unique_ptr<Run>& run) noexcept {
  return run->is_idle();
}
}  // namespace

Channel::Channel(transport::Engine& engine, std::uint32_t context, Team team,
                 const schedule::Overrides& overrides)
    : team_(std::move(team)),
      history_(context),
      lane_{engine, team_, context, history_},
      plans_(team_, overrides) {
  runs_.reserve(most_under_way);
}

transport::Posted Channel::begin(transport::Messenger& messenger, Call&& call) noexcept {
  const auto start = [&](Run& run, const std::shared_ptr<const Plan>& plan) {
    return run.start(messenger, std::move(call), plan);
  };
  return begin_by(start, messenger, call.question);
}

transport::Posted Channel::begin_borrowed(transport::Messenger& messenger, const Call& call) noexcept {
  const auto start = [&](Run& run, const std::shared_ptr<const Plan>& plan) {
    return run.start_borrowed(messenger, call, plan);
  };
  return begin_by(start, messenger, call.question);
}

template <typename Start>
transport::Posted Channel::begin_by(const Start& start, transport::Messenger& messenger,
                                    const Question& question) noexcept {
  try {
    history_.look_for_strays(messenger);
    const std::shared_ptr<const Plan>& plan = plans_.find(question);
    // The first one, which is the one used last: it has the plan, if calls repeat themselves.
    auto run = std::find_if(runs_.begin(), runs_.end(), is_idle);
    if (run == runs_.end()) {
      runs_.push_back(std::make_unique<Run>(lane_, scratch_));
      run = runs_.end() - 1;
    }
    return start(**run, plan);
  } catch (const std::bad_alloc&) {
    return {Code::exhausted};
  }
}

std::size_t Channel::under_way() const noexcept {
  return static_cast<std::size_t>(
      std::count_if(runs_.begin(), runs_.end(), [](const auto& run) { return !run->is_idle(); }));
}

}  // namespace parley::collective
