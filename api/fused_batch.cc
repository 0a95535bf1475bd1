#include "api/fused_batch.h"

#include <parley/error.h>
#include <parley/stream.h>

#include <algorithm>
#include <chrono>
#include <cstddef>

#include "api/device_path.h"
#include "api/post_together.h"
#include "api/posting.h"
#include "transport/base/deadline.h"
#include "transport/base/log.h"

namespace parley::detail {

using nccl::Communicator;
using nccl::Library;
using nccl::Link;
using nccl::Result;
using transport::Messenger;

namespace {

constexpr const char* call_name = "batch_isend_irecv";

bool can_be_fused(const GroupState& group, std::span<const P2POp> ops) noexcept {
  const Device device = ops.front().tensor.device();
  if (device.is_cpu()) [[likely]]
    return false;
  return std::all_of(ops.begin(), ops.end(), [&](const P2POp& op) {
    const GroupState* const own = GroupAccess::state(op.group).get();
    return op.tag == 0 && op.peer >= 0 && op.tensor.device() == device && (own == nullptr || own == &group);
  });
}

// The longest of them: together they are one.
std::chrono::nanoseconds timeout_of(const GroupState& group, std::span<const P2POp> ops) {
  std::chrono::nanoseconds longest{0};
  for (const P2POp& op : ops) longest = std::max(longest, op.timeout.value_or(group.world->timeout));
  return longest;
}

// Everything as bytes.
Result enqueue(Library& library, Communicator communicator, std::span<const P2POp> ops, cuda::Stream stream) {
  if (const Result begun = library.begin_group(); begun != Result::success) return begun;
  Result told = Result::success;
  for (const P2POp& op : ops) {
    const std::size_t bytes = op.tensor.bytes();
    if (bytes == 0 || nccl::has_failed(told)) continue;
    told =
        op.op == P2POp::isend
            ? library.send(op.tensor.data(), bytes, nccl::Type::u8, op.peer, communicator, stream)
            : library.receive(op.tensor.mutable_data(), bytes, nccl::Type::u8, op.peer, communicator, stream);
  }
  const Result ended = library.end_group();
  return nccl::has_failed(told) ? told : ended;
}

// Its place among all that NCCL is told, and the tags of its messages, which follow that order.
struct Place {
  std::uint64_t number = 0;
  std::vector<std::int64_t> tags;
};

Place take_place(const GroupState& group, DevicePath& path, std::span<const P2POp> ops) {
  Place place;
  place.tags.resize(ops.size());
  group.world->engine->locked([&](Messenger&) {
    place.number = path.link->take_number();
    for (std::size_t i = 0; i < ops.size(); ++i) {
      auto& numbers = ops[i].op == P2POp::isend ? path.sent : path.received;
      std::uint64_t& number = numbers[static_cast<std::size_t>(ops[i].peer)];
      place.tags[i] = FusedTag{number++, ops[i].tensor.bytes()}.packed();
    }
  });
  return place;
}

// Has NCCL begin, after what was told to it before. The call stays until the stream has been told, for what
// its caller tells the stream next comes after it. Throws why NCCL is over.
void tell(const GroupState& group, Link& link, std::uint64_t number, std::span<const P2POp> ops) {
  transport::Engine& engine = *group.world->engine;
  const std::uint32_t context = group.all_contexts.collectives;
  const auto timeout = timeout_of(group, ops);
  const auto deadline = base::Deadline::after(timeout);
  const auto stream = static_cast<cuda::Stream>(current_stream());
  for (bool is_told = false;;) {
    const Link::State state = engine.locked([&](Messenger& messenger) {
      if (messenger.abort_record(context) != nullptr) return Link::State::over;
      if (!link.is_turn_of(number)) return Link::State::launching;  // something else
      Link::State now = link.look();
      if (now == Link::State::ready && !is_told) {
        is_told = true;
        now = link.tell(stream, timeout, [&](Communicator communicator) {
          return enqueue(link.library(), communicator, ops, stream);
        });
      }
      if (now == Link::State::ready) link.end_turn();
      return now;
    });
    if (state == Link::State::ready) return;
    if (state == Link::State::over) throw_failure(group, {call_name, context}, base::Code::aborted);
    constexpr auto period = std::chrono::milliseconds(1);
    engine.wait_until([](const Messenger&) { return false; }, period);
    if (deadline.expired()) engine.locked([&](Messenger&) { link.give_up(); });
  }
}

// One operation's message without content.
class FusedItem {
 public:
  FusedItem(const P2POp& op, const std::shared_ptr<GroupState>& group, std::int64_t tag, Work& work)
      : op_(op), group_(group), tag_(tag), work_(work) {}

  [[nodiscard]] bool is_send() const noexcept { return op_.op == P2POp::isend; }
  base::Status post(transport::Engine::Visit& visit) const {
    // Of the tensor's memory, so that the operation keeps that.
    const std::shared_ptr<const void> owner = op_.tensor.owner();
    const std::shared_ptr<const void> memory(owner, op_.tensor.data());
    const Tensor nothing = Tensor::adopt_read_only(memory, {0}, op_.tensor.dtype(), {}, op_.tensor.device());
    const base::Status status = is_send() ? post_send(work_, group_, nothing, op_.peer, send_spec(), visit)
                                          : post_receive(work_, group_, nothing, receive_spec(), visit);
    Operation* const operation = WorkAccess::operation(work_);
    if (operation != nullptr) operation->request->is_bound = true;  // NCCL will move what it stands for
    return status;
  }
  void leave(base::Status status) const {
    const auto description = is_send() ? describe(send_spec()) : describe(receive_spec());
    WorkAccess::set_error(work_, failure_of(*group_, description, status));
  }

 private:
  [[nodiscard]] transport::SendSpec send_spec() const {
    transport::SendSpec spec = checked_send_spec(*group_, op_.tensor, op_.peer, tag_, op_.timeout);
    spec.context = group_->all_contexts.fused_batches;
    spec.bytes = 0;
    spec.urgency = transport::Endpoint::Urgency::batch;
    return spec;
  }
  [[nodiscard]] transport::ReceiveSpec receive_spec() const {
    transport::ReceiveSpec spec = checked_receive_spec(*group_, op_.tensor, op_.peer, tag_, op_.timeout);
    spec.pattern.context = group_->all_contexts.fused_batches;
    spec.capacity_bytes = 0;
    return spec;
  }

  const P2POp& op_;
  const std::shared_ptr<GroupState>& group_;
  const std::int64_t tag_;
  Work& work_;
};

}  // namespace

bool post_fused(const std::shared_ptr<GroupState>& group, std::span<const P2POp> ops, std::span<Work> works) {
  if (!can_be_fused(*group, ops)) return false;
  const int device = ops.front().tensor.device().index;
  DevicePath& path = device_path_of(group, device, group->world->timeout, call_name);
  if (path.link == nullptr) return false;
  path.require_device(device, call_name);
  const Place place = take_place(*group, path, ops);
  tell(*group, *path.link, place.number, ops);
  const auto sends = static_cast<std::size_t>(
      std::count_if(ops.begin(), ops.end(), [](const P2POp& op) { return op.op == P2POp::isend; }));
  const auto at = [&](std::size_t i) { return FusedItem(ops[i], group, place.tags[i], works[i]); };
  post_together(*group->world->engine, ops.size() - sends, sends, at);
  return true;
}

}  // namespace parley::detail
