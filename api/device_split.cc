#include "api/device_split.h"

#include <parley/error.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>
#include <system_error>
#include <utility>

#include "api/checks.h"
#include "api/collective_call.h"
#include "api/device_path.h"
#include "api/nccl/card.h"
#include "api/nccl/split.h"
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
std::optional<DeviceWish> wish_in(const std::string& word, const GroupState& parent) {
  std::uint32_t context = 0;
  int wish = 0;
  const char* const end = word.data() + word.size();
  const auto first = std::from_chars(word.data(), end, context);
  if (first.ec != std::errc() || first.ptr == end || context != parent.all_contexts.collectives)
    return std::nullopt;
  if (std::from_chars(first.ptr + 1, end, wish).ec != std::errc()) return std::nullopt;
  return static_cast<DeviceWish>(wish);
}

// What all ranks find alike.
class Verdict {
 public:
  Verdict(const GroupState& parent, const std::vector<SplitCall::Vote>& votes) : votes_(votes) {
    for (const SplitCall::Vote& vote : votes) {
      const auto wish = wish_in(vote.word, parent);
      if (!wish) return;
      wishes_.push_back(*wish);
    }
    takes_place_ = std::any_of(votes.begin(), votes.end(),
                               [this](const SplitCall::Vote& vote) { return wants_nccl(vote.color); });
  }
  [[nodiscard]] bool takes_place() const noexcept { return takes_place_; }
  // REQUIRES: all can.
  [[nodiscard]] bool wants_nccl(int color) const {
    std::vector<DeviceWish> wishes;
    for (std::size_t rank = 0; rank < votes_.size(); ++rank)
      if (votes_[rank].color == color) wishes.push_back(wishes_[rank]);
    return color >= 0 && nccl::want_nccl(wishes);
  }

 private:
  const std::vector<SplitCall::Vote>& votes_;
  std::vector<DeviceWish> wishes_;  // by rank
  bool takes_place_ = false;
};

// Null: there is no thread for it; the others find out by this rank's card.
std::unique_ptr<Link> empty_link(const GroupState& child, const Link& parent) {
  wireup::World& world = *child.world;
  try {
    return std::make_unique<Link>(Link::Place{parent.library(), world.devices, parent.device(), *world.engine,
                                              child.all_contexts.collectives});
  } catch (const std::system_error& error) {
    PARLEY_LOG(warn, "cuda", text_of(child), " has no thread for NCCL: ", error.what());
    return nullptr;
  }
}

// All ranks meet in a barrier of the parent, while NCCL splits.
void run(const std::shared_ptr<GroupState>& parent, const SplitCall& call,
         std::shared_ptr<nccl::Split> split) {
  CollectiveCall barrier(call.name);
  barrier.call.signature.is_meeting = true;
  barrier.call.signature.count = static_cast<std::uint64_t>(call.number);
  barrier.call.timeout = call.timeout.value_or(parent->world->timeout);
  barrier.call.gives_up = barrier.call.timeout != parent->world->timeout;
  barrier.call.errand = std::move(split);
  run_collective(parent, std::move(barrier));
}

}  // namespace

std::string split_word(const GroupState& parent, const GroupOptions& options) {
  if (!can_be_split(parent)) return no_split_word;
  const DeviceWish wish = wish_for(options.device_backend, parent.world->device_wish);
  return concat(parent.all_contexts.collectives, '/', static_cast<int>(wish));
}

void split_devices(const std::shared_ptr<GroupState>& parent, const SplitCall& call, GroupState* child) {
  const Verdict verdict(*parent, call.votes);
  if (!verdict.takes_place()) return;
  Link& link = *link_of(*parent);
  const int color = call.votes[static_cast<std::size_t>(parent->rank)].color;
  nccl::Division part;
  std::unique_ptr<Link> own;
  if (child != nullptr && verdict.wants_nccl(color)) own = empty_link(*child, link);
  // The child's ranks have that order already.
  if (own != nullptr) part = {.color = color, .key = child->rank, .name = child->name.c_str()};
  try {
    run(parent, call, std::make_shared<nccl::Split>(link, part, own.get()));
  } catch (const Error& error) {
    PARLEY_LOG(
        warn, "cuda", text_of(*parent),
        " could not have its NCCL communicator split, and its children's are made when they are used: ",
        error.what());
  }
  if (own == nullptr ||
      !parent->world->engine->locked([&](transport::Messenger&) { return own->has_begun(); }))
    return;
  child->world->await(own->work());
  child->split_off = std::move(own);
}

}  // namespace parley::detail
