#include "api/group_state.h"

#include <parley/error.h>

#include <algorithm>
#include <cstddef>
#include <optional>

#include "api/boards.h"
#include "api/checks.h"
#include "api/collective/channel.h"
#include "api/collective/end_reason.h"
#include "api/device_path.h"
#include "transport/base/log.h"

namespace parley::detail {

GroupState::GroupState() = default;
GroupState::~GroupState() {
  leave_channel(*this);
}

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
  state->device_wish = world->device_wish;
  state->overrides = world->overrides;
  state->world = std::move(world);
  return state;
}

// What PARLEY_ALGO asks for is stronger.
void ask_for(const std::string& algorithms, schedule::Overrides& overrides) {
  const schedule::Overrides asked = schedule::parse_overrides(algorithms).value();
  for (const schedule::Operation operation : schedule::all_operations())
    if (const auto algorithm = asked.of(operation); algorithm && !overrides.of(operation))
      overrides.set(operation, *algorithm);
}

// What errors call them.
void name_contexts(wireup::World& world, const wireup::GroupContexts& contexts, const std::string& group) {
  world.group_books.name(contexts.object_lists, "the object lists of " + group);
  world.group_books.name(contexts.monitored_barriers, "the monitored barriers of " + group);
  world.group_books.name(contexts.fused_batches, "the fused batches of " + group);
  world.group_books.name(contexts.collectives, "the collectives of " + group);
}

}  // namespace

wireup::DeviceWish wish_for(DeviceBackend asked, wireup::DeviceWish of_world) noexcept {
  if (of_world != wireup::DeviceWish::automatic || asked == DeviceBackend::automatic) return of_world;
  return asked == DeviceBackend::nccl ? wireup::DeviceWish::nccl : wireup::DeviceWish::ipc;
}

void check_options(const char* call, const GroupOptions& options) {
  constexpr std::size_t longest = 64;
  if (options.name.size() > longest || options.name.find('\n') != std::string::npos)
    throw UsageError(base::concat("a group's name is one line of at most ", longest, " bytes"));
  const auto asked = schedule::parse_overrides(options.algorithms);
  if (!asked) throw UsageError(base::concat(call, ": GroupOptions::algorithms: ", asked.failure().message));
}

std::shared_ptr<GroupState> GroupState::of_world(std::shared_ptr<wireup::World> world) {
  auto state = std::make_shared<GroupState>();
  state->rank = world->rank;
  state->size = world->size;
  state->name = "world";
  state->device_wish = world->device_wish;
  state->overrides = world->overrides;
  name_contexts(*world, state->all_contexts, "the world");
  state->world = std::move(world);
  return state;
}

std::shared_ptr<GroupState> GroupState::open(std::shared_ptr<wireup::World> world, std::uint32_t number,
                                             std::vector<int> members, const GroupOptions& options) {
  auto state = of_some(std::move(world), std::move(members), options.name);
  state->device_wish = wish_for(options.device_backend, state->world->device_wish);
  ask_for(options.algorithms, state->overrides);
  state->all_contexts = wireup::contexts_of_group(number);
  state->context = state->all_contexts.messages;
  state->contexts = std::make_shared<const OpenContexts>(*state->world, *state);
  return state;
}

std::shared_ptr<GroupState> GroupState::of_others(std::shared_ptr<wireup::World> world,
                                                  std::vector<int> members, std::string name) {
  return of_some(std::move(world), std::move(members), std::move(name));
}

std::shared_ptr<GroupState> GroupState::within(std::uint32_t other_context) const {
  auto state = std::make_shared<GroupState>();
  state->world = world;
  state->all_contexts = all_contexts;
  state->context = other_context;
  state->rank = rank;
  state->size = size;
  state->members = members;
  state->ranks = ranks;
  state->name = name;
  state->overrides = overrides;
  state->contexts = contexts;
  return state;
}

bool pass_death_on(wireup::World& world, std::uint32_t collectives) noexcept {
  return world.engine->locked([&](transport::Messenger& messenger) {
    if (messenger.abort_record(collectives) != nullptr) return true;
    const auto is_missed = [&](std::uint32_t process) {
      return process != messenger.options().self && messenger.concerns(collectives, process);
    };
    const auto& casualty = messenger.casualty_of(collectives);
    std::optional<std::uint32_t> dead;
    if (casualty && is_missed(casualty->culprit)) dead = casualty->culprit;
    // Or this rank has only heard of it. Of a member that it has seen die there is a casualty, until the
    // group takes note of that and goes on without it.
    if (!dead) dead = messenger.dead_process();
    if (!dead || !is_missed(*dead)) return false;
    const bool is_acknowledged = !casualty && messenger.peer(*dead).state == transport::PeerState::down;
    if (is_acknowledged) return false;
    const collective::EndReason reason{collective::EndReason::Kind::died};
    // Without memory for it the others hear that this rank has left.
    return messenger.abort_context(collectives, *dead, reason.encoded(), transport::AbortManner::bereaved);
  });
}

OpenContexts::OpenContexts(wireup::World& world, const GroupState& group)
    : world_(world), contexts_(group.all_contexts) {
  const std::vector<std::uint32_t> processes(group.members.begin(), group.members.end());
  const std::string text = text_of(group);
  world.group_books.name(group.all_contexts.messages, text);
  name_contexts(world, group.all_contexts, text);
  const auto contexts = contexts_.all();
  const bool are_open = world.engine->locked([&](transport::Messenger& messenger) {
    for (std::size_t opened = 0; opened < contexts.size(); ++opened) {
      if (messenger.open_context(contexts[opened], processes)) continue;
      while (opened > 0) messenger.close_context(contexts[--opened]);
      return false;
    }
    return true;
  });
  if (are_open) return;
  for (const std::uint32_t context : contexts) world.group_books.forget(context);
  throw ResourceError("new_group: out of memory for a group");
}

OpenContexts::~OpenContexts() {
  if (world_.engine->in_forked_child()) return;
  (void)pass_death_on(world_, contexts_.collectives);
  try {
    for (const std::uint32_t context : contexts_.all()) {
      world_.group_books.forget(context);
      world_.engine->close_context(context);
    }
  } catch (const std::exception& error) {
    PARLEY_LOG(error, "p2p", "while leaving a group: ", error.what());
  }
}

}  // namespace parley::detail
