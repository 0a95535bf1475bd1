#include "api/boards.h"

#include <chrono>
#include <exception>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "api/collective/channel.h"
#include "transport/base/log.h"

namespace parley::detail {

using collective::Channel;
using collective::Commons;
using transport::Engine;
using transport::Messenger;

namespace {

constexpr auto patience_with_meeting = std::chrono::seconds(5);

// The boards of a group that this rank has left.
class LeftBoards final : public wireup::LeftMemory {
 public:
  explicit LeftBoards(std::unique_ptr<Commons> boards) noexcept : boards_(std::move(boards)) {}
  [[nodiscard]] bool is_unread(const Messenger& messenger) const noexcept override {
    return boards_->is_unread(messenger);
  }

 private:
  const std::unique_ptr<Commons> boards_;
};

// Lets go of what nobody reads any more.
void drop_unread(wireup::World& world) {
  world.engine->locked([&](Messenger& messenger) {
    std::erase_if(world.left_memory, [&](const auto& left) { return left->is_unread(messenger); });
  });
}

std::shared_ptr<std::byte> make_board(wireup::World& world, std::size_t bytes) {
  drop_unread(world);
  try {
    auto board = world.allocate_shared(bytes);
    if (board) return std::static_pointer_cast<std::byte>(std::move(board).value());
    PARLEY_LOG(info, "collective", "a group goes by messages alone, for there is no memory for its board: ",
               board.failure().message);
  } catch (const std::bad_alloc&) {  // the same
  }
  return nullptr;
}

// Ranks that were aborted while they met still end what they had begun for that.
void come_to_rest(GroupState& group) {
  Channel& channel = *group.channel;
  Engine& engine = *group.world->engine;
  const auto is_at_rest = [&](const Messenger&) { return channel.is_at_rest(); };
  if (engine.inspect(is_at_rest)) return;
  const std::uint32_t context = group.all_contexts.collectives;
  if (!pass_death_on(*group.world, context)) engine.abort_context(context, "the group was left");
  if (!engine.wait_until(is_at_rest, patience_with_meeting)) (void)group.channel.release();
}

}  // namespace

void supply_board(GroupState& group) {
  Engine& engine = *group.world->engine;
  const auto wanted = [&](const Messenger&) { return group.channel->wanted_board_bytes(); };
  const std::size_t bytes = engine.inspect(wanted);
  if (bytes == 0) return;
  std::shared_ptr<std::byte> board = make_board(*group.world, bytes);
  // Of two threads that both come here, one's is taken.
  engine.locked([&](Messenger&) {
    if (group.channel->wanted_board_bytes() != 0) group.channel->give_board(std::move(board));
  });
}

void leave_channel(GroupState& group) noexcept {
  if (group.channel == nullptr || group.world->engine->in_forked_child()) return;
  std::unique_ptr<Commons> boards;
  try {
    come_to_rest(group);
  } catch (const std::exception&) {
    (void)group.channel.release();  // something of it is still under way: it stays for good
  }
  // What of it the engine knows goes with it.
  group.world->engine->locked([&](Messenger&) {
    if (group.channel != nullptr) boards = group.channel->take_commons();
    group.channel.reset();
    if (boards != nullptr) boards->leave();
  });
  if (boards == nullptr) return;
  const auto keep = [&](Messenger&) {
    auto& kept = group.world->left_memory;
    kept.reserve(kept.size() + 1);
    kept.push_back(std::make_unique<LeftBoards>(std::move(boards)));
  };
  try {
    group.world->engine->locked(keep);
  } catch (const std::bad_alloc&) {
    (void)boards.release();  // others may read it: it stays for good
  }
}

}  // namespace parley::detail
