#include "api/device_split.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <exception>
#include <string_view>
#include <utility>

#include "api/checks.h"
#include "api/collective/end_reason.h"
#include "api/collective_call.h"
#include "api/device_path.h"
#include "api/nccl/card.h"
#include "api/nccl/split.h"
#include "api/posting.h"
#include "transport/base/log.h"

namespace parley::detail {

using base::concat;
using nccl::Link;
using wireup::DeviceWish;

namespace {

// By it NCCL's user asks for children that are aborted with their parents, whatever the configuration says.
bool must_share_resources() {
  const char* const value = std::getenv("NCCL_COMM_SPLIT_SHARE_RESOURCES");
  return value != nullptr && std::string_view(value) != "0";
}

// Null: it has none.
Link* link_of(const GroupState& group) {
  if (group.device_meeting.state() != DeviceMeeting::State::agreed) return nullptr;
  return group.device_path->link.get();
}

bool can_be_split(const GroupState& group) {
  Link* const link = link_of(group);
  if (link == nullptr || must_share_resources()) return false;
  return group.world->engine->locked([&](transport::Messenger& messenger) {
    return messenger.abort_record(group.all_contexts.collectives) == nullptr &&
           link->look() != Link::State::over;
  });
}

// "CONTEXT/WISH". Nothing: it is none of this parent.
std::optional<DeviceWish> wish_in(std::string_view word, const GroupState& parent) noexcept {
  std::uint32_t context = 0;
  int wish = 0;
  const char* const end = word.data() + word.size();
  const auto first = std::from_chars(word.data(), end, context);
  if (first.ec != std::errc() || first.ptr == end || context != parent.all_contexts.collectives)
    return std::nullopt;
  if (std::from_chars(first.ptr + 1, end, wish).ec != std::errc()) return std::nullopt;
  return static_cast<DeviceWish>(wish);
}

// What all ranks find alike, also one that has no memory left: nothing here asks for any.
bool wants_nccl(const std::vector<SplitCall::Vote>& votes, int color) noexcept {
  nccl::Wishes wishes;
  for (const SplitCall::Vote& vote : votes)
    if (vote.color == color) wishes.add(*vote.wish);
  return color >= 0 && wishes.want_nccl();
}
bool takes_place(const std::vector<SplitCall::Vote>& votes) noexcept {
  return std::all_of(votes.begin(), votes.end(), [](const auto& vote) { return vote.wish.has_value(); }) &&
         std::any_of(votes.begin(), votes.end(),
                     [&](const auto& vote) { return wants_nccl(votes, vote.color); });
}

void warn(const GroupState& group, std::string_view what, const std::exception& error) noexcept {
  if (!base::log_enabled(LogLevel::warn, "cuda")) return;
  base::log_line(LogLevel::warn, "cuda",
                 collective::words([&] { return concat(text_of(group), what, error.what()); }));
}

// Null: it cannot be had; the others find out by this rank's card.
std::unique_ptr<Link> link_for(const GroupState& child, const Link& parent, const char* operation) noexcept {
  try {
    return make_link(child, parent.library(), parent.device(), operation);
  } catch (const std::exception& error) {
    warn(child, " takes part in the split of its parent's NCCL communicator without a part: ", error);
    return nullptr;
  }
}

// All ranks meet in a barrier of the parent, while NCCL splits.
void run(const std::shared_ptr<GroupState>& parent, const SplitCall& call,
         std::shared_ptr<nccl::Split> split) {
  CollectiveCall barrier(call.name);
  barrier.call.signature.is_split = true;
  barrier.call.signature.count = static_cast<std::uint64_t>(call.number);
  barrier.call.timeout = call.timeout.value_or(parent->world->timeout);
  barrier.call.gives_up = gives_up(call.timeout);
  barrier.call.errand = std::move(split);
  run_collective(parent, std::move(barrier));
}

}  // namespace

std::string split_word(const GroupState& parent, const GroupOptions& options) {
  if (!can_be_split(parent)) return no_split_word;
  const DeviceWish wish = wish_for(options.device_backend, parent.world->device_wish);
  return concat(parent.all_contexts.collectives, '/', static_cast<int>(wish));
}

SplitCall::Vote vote_of(const GroupState& parent, int color, std::string_view word) noexcept {
  return {color, wish_in(word, parent)};
}

void split_devices(const std::shared_ptr<GroupState>& parent, const SplitCall& call,
                   GroupState* child) noexcept {
  if (!takes_place(call.votes)) return;
  transport::Engine& engine = *parent->world->engine;
  Link& link = *link_of(*parent);
  const int color = call.votes[static_cast<std::size_t>(parent->rank)].color;
  nccl::Division part;
  std::unique_ptr<Link> own;
  if (child != nullptr && wants_nccl(call.votes, color)) own = link_for(*child, link, call.name);
  // The child's ranks have that order already.
  if (own != nullptr) part = {.color = color, .key = child->rank, .name = child->name.c_str()};
  try {
    run(parent, call, std::make_shared<nccl::Split>(link, part, own.get()));
  } catch (const std::exception& error) {
    warn(*parent,
         " could not have its NCCL communicator split, and its children's are made when they are used: ",
         error);
    // Where it was not even begun the others wait for it.
    engine.locked([&](transport::Messenger& messenger) {
      if (messenger.abort_record(parent->all_contexts.collectives) == nullptr)
        link.fail("the split of the communicator could not be begun");
    });
  }
  const auto has_begun = [&](transport::Messenger&) { return own->has_begun(); };
  if (own != nullptr && engine.locked(has_begun)) child->split_off = std::move(own);
}

}  // namespace parley::detail
