#include "api/group_state.h"

#include <parley/error.h>

#include <algorithm>

#include "api/checks.h"
#include "transport/base/log.h"

namespace parley::detail {
namespace {

std::shared_ptr<GroupState> of_some(std::shared_ptr<wireup::World> world, std::vector<int> members,
                                    std::string name) {
  auto state = std::make_shared<GroupState>();
  state->ranks.assign(static_cast<std::size_t>(world->size), -1);
  for (std::size_t rank = 0; rank < members.size(); ++rank)
    state->ranks[static_cast<std::size_t>(members[rank])] = static_cast<int>(rank);
  state->rank = state->ranks[static_cast<std::size_t>(world->rank)];
  state->size = static_cast<int>(members.size());
  state->members = std::move(members);
  state->name = std::move(name);
  state->world = std::move(world);
  return state;
}

}  // namespace

std::shared_ptr<GroupState> GroupState::of_world(std::shared_ptr<wireup::World> world) {
  auto state = std::make_shared<GroupState>();
  state->rank = world->rank;
  state->size = world->size;
  state->name = "world";
  state->world = std::move(world);
  return state;
}

std::shared_ptr<GroupState> GroupState::open(std::shared_ptr<wireup::World> world, std::uint32_t number,
                                             std::vector<int> members, std::string name) {
  auto state = of_some(std::move(world), std::move(members), std::move(name));
  state->context = wireup::context_of_group(number);
  state->barrier_context = wireup::barrier_context_of_group(number);
  state->contexts = std::make_shared<const OpenContexts>(*state->world, *state);
  return state;
}

std::shared_ptr<GroupState> GroupState::of_others(std::shared_ptr<wireup::World> world,
                                                  std::vector<int> members, std::string name) {
  return of_some(std::move(world), std::move(members), std::move(name));
}

OpenContexts::OpenContexts(wireup::World& world, const GroupState& group)
    : world_(world), context_(group.context), barrier_context_(group.barrier_context) {
  const std::vector<std::uint32_t> processes(group.members.begin(), group.members.end());
  const std::string text = text_of(group);
  for (const std::uint32_t of : {context_, barrier_context_}) world.group_books.name(of, text);
  const bool are_open = world.engine->locked([&](transport::Messenger& messenger) {
    if (!messenger.open_context(context_, processes)) return false;
    if (messenger.open_context(barrier_context_, processes)) return true;
    messenger.close_context(context_);
    return false;
  });
  if (are_open) return;
  for (const std::uint32_t of : {context_, barrier_context_}) world.group_books.forget(of);
  throw ResourceError("new_group: out of memory for a group");
}

OpenContexts::~OpenContexts() {
  if (world_.engine->in_forked_child()) return;
  try {
    for (const std::uint32_t of : {context_, barrier_context_}) {
      world_.group_books.forget(of);
      world_.engine->close_context(of);
    }
  } catch (const std::exception& error) {
    PARLEY_LOG(error, "p2p", "while leaving a group: ", error.what());
  }
}

}  // namespace parley::detail
