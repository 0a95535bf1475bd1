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

transport::Posted Channel::begin(transport::Messenger& messenger, const Call& call) noexcept {
  return begin_any(messenger, call);
}

transport::Posted Channel::begin(transport::Messenger& messenger, Call&& call) noexcept {
  return begin_any(messenger, std::move(call));
}

template <typename AnyCall>
transport::Posted Channel::begin_any(transport::Messenger& messenger, AnyCall&& call) noexcept {
  try {
    history_.look_for_strays(messenger);
    const std::shared_ptr<const Plan>& plan = plans_.find(call.question);
    auto run = std::find_if(runs_.begin(), runs_.end(), is_idle);
    if (run == runs_.end()) {
      runs_.push_back(std::make_unique<Run>(lane_, scratch_));
      run = runs_.end() - 1;
    }
    // Behind those that began before it.
    std::rotate(run, run + 1, runs_.end());
    return runs_.back()->start(messenger, std::forward<AnyCall>(call), plan);
  } catch (const std::bad_alloc&) {
    return {Code::exhausted};
  }
}

std::size_t Channel::under_way() const noexcept {
  return static_cast<std::size_t>(
      std::count_if(runs_.begin(), runs_.end(), [](const auto& run) { return !run->is_idle(); }));
}

}  // namespace parley::collective
