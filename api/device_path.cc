#include "api/device_path.h"

#include <parley/error.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "api/checks.h"
#include "api/failure.h"
#include "api/nccl/card.h"
#include "api/nccl/order.h"
#include "api/nccl/runtime.h"
#include "transport/base/log.h"
#include "transport/cuda/runtime.h"

namespace parley::detail {

using base::concat;
using nccl::Card;

namespace {

// As NCCL reads it, from version 2.30 on.
bool lets_ranks_share_devices() {
  const char* const value = std::getenv("NCCL_MULTI_RANK_GPU_ENABLE");
  return value != nullptr && std::string_view(value) == "1";
}

// Whether a communicator of this rank is there that was split off from its parent's, and does for the device.
bool has_split_off(const GroupState& group, int device) {
  if (group.split_off == nullptr || group.split_off->device() != device) return false;
  return group.world->engine->locked([&](transport::Messenger&) {
    return group.split_off->look() != nccl::Link::State::over && !group.split_off->is_lost();
  });
}

Card own_card(const GroupState& group, int device) {
  Card card{.wish = group.device_wish};
  (void)cuda::runtime()->device_id(device, card.device);  // all zero where it fails: shared by all of those
  using wireup::DeviceWish;
  if (card.wish == DeviceWish::ipc || card.wish == DeviceWish::staged) return card;
  nccl::Library* const library = nccl::runtime();
  if (library != nullptr) {
    card.version = library->version();
    card.is_split_off = has_split_off(group, device);
    card.shares_device = card.version >= nccl::first_version_for_sharing && lets_ranks_share_devices();
  } else {
    const std::string why_not = nccl::reason_against();
    std::copy_n(why_not.begin(), std::min(why_not.size(), sizeof(card.why_not) - 1), card.why_not);
  }
  return card;
}

// The collectives of the host by which the ranks agree, before the first one of their devices.
CollectiveCall meeting_call(schedule::Operation operation, const DeviceCall& first) {
  CollectiveCall call(first.name);
  call.call.signature = {.operation = operation, .dtype = DType::bytes, .is_meeting = true};
  call.call.question.operation = operation;
  call.call.timeout = first.timeout;
  call.call.gives_up = first.gives_up;
  return call;
}

// By rank.
std::vector<Card> exchange(const std::shared_ptr<GroupState>& group, const Card& own,
                           const DeviceCall& first) {
  std::vector<Card> cards(static_cast<std::size_t>(group->size));
  CollectiveCall call = meeting_call(schedule::Operation::all_gather, first);
  call.call.input = reinterpret_cast<const std::byte*>(&own);
  call.call.input_count = sizeof(Card);
  call.call.output = reinterpret_cast<std::byte*>(cards.data());
  call.call.output_count = cards.size() * sizeof(Card);
  call.call.question.count = sizeof(Card);
  run_collective(group, std::move(call));
  for (Card& card : cards) card.why_not[sizeof(card.why_not) - 1] = '\0';
  return cards;
}

// By which the ranks find each other; rank 0 makes it.
nccl::UniqueId share_id(const std::shared_ptr<GroupState>& group, const DeviceCall& first) {
  struct Announcement {
    nccl::UniqueId id{};
    nccl::Result result = nccl::Result::success;
  } told;
  if (group->rank == 0) told.result = nccl::runtime()->make_unique_id(told.id);
  CollectiveCall call = meeting_call(schedule::Operation::broadcast, first);
  call.call.output = reinterpret_cast<std::byte*>(&told);
  call.call.input = call.call.output;
  call.call.question.count = sizeof(told);
  call.call.question.in_place = true;
  (group->rank == 0 ? call.call.input_count : call.call.output_count) = sizeof(told);
  run_collective(group, std::move(call));
  if (told.result != nccl::Result::success)
    throw SystemError(concat(first.name, ": NCCL failed on rank 0 of ", text_of(*group), ": ",
                             nccl::runtime()->describe(told.result)));
  return told.id;
}

std::unique_ptr<nccl::Link> join(const std::shared_ptr<GroupState>& group, int device,
                                 const DeviceCall& first) {
  const nccl::UniqueId id = share_id(group, first);
  auto link = make_link(*group, *nccl::runtime(), device, first.name);
  link->join(id, {group->rank, group->size, group->name.c_str()});
  return link;
}

std::unique_ptr<nccl::Link> take_split_off(GroupState& group) {
  group.world->engine->locked([&](transport::Messenger&) { group.split_off->begin_use(); });
  return std::move(group.split_off);
}

std::unique_ptr<DevicePath> meet(const std::shared_ptr<GroupState>& group, int device,
                                 const DeviceCall& first) {
  const std::vector<Card> cards = exchange(group, own_card(*group, device), first);
  const nccl::Choice choice = nccl::choose(cards);
  if (!choice.contradiction.empty()) throw UsageError(concat(first.name, ": ", choice.contradiction));
  auto path = std::make_unique<DevicePath>();
  path->why = choice.why;
  path->version = cards.front().version;
  path->is_one_device = std::all_of(cards.begin(), cards.end(), [&](const Card& card) {
    return card.device == cards.front().device && card.wish != wireup::DeviceWish::staged;
  });
  if (choice.is_nccl) {
    path->sent.resize(cards.size());
    path->received.resize(cards.size());
    const auto has_one = [](const Card& card) { return card.is_split_off; };
    if (std::all_of(cards.begin(), cards.end(), has_one)) {
      path->link = take_split_off(*group);
      path->why += "; split off from its parent's";
    } else {
      path->link = join(group, device, first);
    }
  }
  group->split_off.reset();  // where one rank's will not do, none is used
  PARLEY_LOG(info, "cuda", text_of(*group), " works on its devices ",
             path->link != nullptr ? "by NCCL: " : "without NCCL: ", path->why);
  return path;
}

// Another thread's meeting is no operation of ours: nobody but that one knows whom it waits for.
[[noreturn]] void throw_late(const GroupState& group, const DeviceCall& call) {
  ErrorDetails details;
  details.rank = group.world->rank;
  details.operation = call.name;
  details.elapsed = call.timeout;
  throw TimeoutError(concat("rank ", group.world->rank, ": ", call.name, " in ", text_of(group),
                            " timed out after ", duration_text(call.timeout),
                            ": another thread is in the group's first call on devices, and waits for the "
                            "other ranks"),
                     details);
}

[[noreturn]] void throw_inside(const GroupState& group, const char* operation) {
  ErrorDetails details;
  details.rank = group.world->rank;
  details.operation = operation;
  throw UsageError(
      concat(operation,
             ": it was called by a completion function that runs within the first "
             "call on devices of ",
             text_of(group), ", whose ranks do not know yet how they work together: call it after that one"),
      details);
}

}  // namespace

std::unique_ptr<nccl::Link> make_link(const GroupState& group, nccl::Library& library, int device,
                                      const char* operation) {
  wireup::World& world = *group.world;
  (void)world.engine->locked([&](transport::Messenger&) { return world.devices.open(); });  // it is there
  try {
    auto link = std::make_unique<nccl::Link>(
        nccl::Link::Place{library, world.devices, device, *world.engine, group.all_contexts.collectives});
    world.await(link->work());
    return link;
  } catch (const std::system_error& error) {
    throw ResourceError(concat(operation, ": no thread for NCCL: ", error.what()));
  }
}

DevicePath& device_path_of(const std::shared_ptr<GroupState>& group, int device, const DeviceCall& call) {
  switch (group->device_meeting.begin(base::Deadline::after(call.timeout))) {
    case DeviceMeeting::Entry::agreed: return *group->device_path;
    case DeviceMeeting::Entry::late: throw_late(*group, call);
    case DeviceMeeting::Entry::inside: throw_inside(*group, call.name);
    case DeviceMeeting::Entry::begun: break;
  }
  try {
    group->device_path = meet(group, device, call);
  } catch (...) {
    group->device_meeting.end(false);
    throw;
  }
  DevicePath& path = *group->device_path;
  group->device_meeting.end(true);
  return path;
}

void DevicePath::require_device(int device, const char* operation) const {
  if (link->device() == device) return;
  throw UsageError(concat(operation, ": the tensor is on cuda:", device,
                          ", and this rank's NCCL communicator of the group on cuda:", link->device(),
                          ": use one device of a rank in a group, or set PARLEY_DEVICE_PATH=ipc"));
}

void choose_path(const std::shared_ptr<GroupState>& group, CollectiveCall& call) {
  call.call.signature.is_on_devices = true;
  const DevicePath& path =
      device_path_of(group, call.place->device, {call.name, call.call.timeout, call.call.gives_up});
  call.call.question.on_one_device = path.is_one_device;
  if (path.link == nullptr) return;
  auto assignment = nccl::assignment_for(call.call, call.place->op, group->rank, group->size);
  if (!assignment) return;
  path.require_device(call.place->device, call.name);
  // Empty where it lies in several pieces, which are brought together anyway.
  const auto memory = [&](const std::byte* data, std::uint64_t count) {
    return std::span(data, data == nullptr ? 0 : count * call.call.question.element_bytes);
  };
  const bool needs_own_input =
      nccl::needs_own_input(*assignment, memory(call.call.input, call.call.input_count),
                            memory(call.call.output, call.call.output_count));
  auto order = std::make_shared<nccl::Order>(*path.link, std::move(*assignment), call.place->stream,
                                             call.call.timeout);
  if (needs_own_input) {
    order->own_input = Tensor::from_blob(const_cast<std::byte*>(call.call.input), call.call.input_count,
                                         call.call.signature.dtype, {}, call.device);  // only read
    call.call.inputs = std::span(&order->own_input, 1);
  }
  call.call.question = {.element_bytes = call.call.question.element_bytes};  // a barrier's
  call.call.reduction = nullptr;
  call.call.errand = std::move(order);
}

std::string describe_device_path(const GroupState& group) {
  switch (group.device_meeting.state()) {
    case DeviceMeeting::State::none: return {};
    case DeviceMeeting::State::meeting: return "devices: the ranks are agreeing how they work together";
    case DeviceMeeting::State::agreed: break;
  }
  const DevicePath* const path = group.device_path.get();
  if (path->link == nullptr) return concat("devices: without NCCL (", path->why, ")");
  return concat("devices: NCCL ", nccl::version_text(path->version), " on cuda:", path->link->device(), " (",
                path->why, ")");
}

}  // namespace parley::detail
