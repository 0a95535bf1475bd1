#include "api/fused_batch.h"

#include <parley/error.h>
#include <parley/stream.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <exception>
#include <optional>
#include <string>
#include <utility>

#include "api/device_path.h"
#include "api/failure.h"
#include "api/fused_messages.h"
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

std::string count_text(std::size_t count, const char* what) {
  return base::concat(count, ' ', what, count == 1 ? "" : "s");
}

// NCCL pairs what a rank sends itself with what it receives from itself, within the batch; what is left over
// would end the group's NCCL. Throws UsageError.
void check_own_messages(const GroupState& group, std::span<const P2POp> ops) {
  std::vector<std::size_t> sent, received;  // bytes
  for (const P2POp& op : ops)
    if (op.peer == group.rank) (op.op == P2POp::isend ? sent : received).push_back(op.tensor.bytes());
  if (sent == received) return;
  const auto [one, other] = std::mismatch(sent.begin(), sent.end(), received.begin(), received.end());
  const bool is_longer = one == sent.end() || other == received.end();
  const std::string which = is_longer
                                ? base::concat(count_text(sent.size(), "send"), " to this rank itself, and ",
                                               count_text(received.size(), "receive"), " from it")
                                : base::concat("send ", one - sent.begin(), " to this rank itself has ", *one,
                                               " B, receive ", one - sent.begin(), " from it ", *other, " B");
  ErrorDetails details;
  details.rank = details.peer = group.world->rank;
  details.operation = call_name;
  throw UsageError(base::concat(call_name, ": ", which,
                                ": by NCCL a rank receives what it sends itself in the "
                                "same batch, in the same order (PARLEY_DEVICE_PATH=ipc: in any)"),
                   details);
}

// The longest of them: together they are one.
std::chrono::nanoseconds timeout_of(const GroupState& group, std::span<const P2POp> ops) {
  std::chrono::nanoseconds longest{0};
  for (const P2POp& op : ops) longest = std::max(longest, op.timeout.value_or(group.world->timeout));
  return longest;
}

DeviceCall device_call(const GroupState& group, std::span<const P2POp> ops) {
  const bool gives_up =
      std::all_of(ops.begin(), ops.end(), [](const P2POp& op) { return detail::gives_up(op.timeout); });
  return {call_name, timeout_of(group, ops), gives_up};
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

// The group's NCCL is over: why, its collectives tell.
[[noreturn]] void throw_over(const GroupState& group) {
  throw_failure(group, {call_name, group.all_contexts.collectives}, base::Code::aborted);
}

// Its place among all that NCCL is told, and the tags of its messages, which follow that order.
struct Place {
  std::uint64_t number = 0;
  std::vector<std::int64_t> tags;
};

// Throws why NCCL is over. REQUIRES: what follows ends the link or the number's turn.
Place take_place(const GroupState& group, DevicePath& path, std::span<const P2POp> ops) {
  Place place;
  place.tags.resize(ops.size());
  const bool is_over = group.world->engine->locked([&](Messenger& messenger) {
    if (messenger.abort_record(group.all_contexts.collectives) != nullptr) return true;
    if (path.link->look() == Link::State::over) return true;
    place.number = path.link->take_number();
    for (std::size_t i = 0; i < ops.size(); ++i) {
      auto& numbers = ops[i].op == P2POp::isend ? path.sent : path.received;
      std::uint64_t& number = numbers[static_cast<std::size_t>(ops[i].peer)];
      place.tags[i] = FusedTag{number++, ops[i].tensor.bytes()}.packed();
    }
    return false;
  });
  if (is_over) throw_over(group);
  return place;
}

// Ends the group's NCCL, which has waited too long: for those who have not come, if there are any. What is to
// be told of it; nothing where it had ended before, or has begun at last. REQUIRES: the engine's lock.
std::optional<FailureFacts> give_up(const GroupState& group, Link& link, std::uint64_t number,
                                    const FusedMessages& messages, std::chrono::nanoseconds elapsed,
                                    Messenger& messenger) {
  const std::uint32_t context = group.all_contexts.collectives;
  const Link::State state = link.look();
  if (messenger.abort_record(context) != nullptr || state == Link::State::over) return std::nullopt;
  if (state == Link::State::ready && link.is_turn_of(number)) return std::nullopt;
  const std::vector<std::size_t> unmatched = messages.unmatched();
  const std::string absent = messages.peers_of(unmatched);
  FailureFacts facts;
  if (!unmatched.empty()) {
    facts = facts_of(messages.describe(unmatched.front()), base::Code::timed_out, messenger);
    if (unmatched.size() > 1)
      facts.extra += base::concat(facts.extra.empty() ? "" : "; ", "the batch waited for ", absent);
  }
  link.give_up(absent);
  if (unmatched.empty()) facts = facts_of({call_name, context}, base::Code::aborted, messenger);
  facts.elapsed = elapsed;
  return facts;
}

// Has NCCL begin, after what was told to it before. The call stays until the stream has been told, for what
// its caller tells the stream next comes after it: with a peer's first batch, NCCL tells it only once that
// has come. Throws why NCCL is over; the messages are not bound then, and end with their Works.
void tell(const GroupState& group, Link& link, std::uint64_t number, std::span<const P2POp> ops,
          const FusedMessages& messages) {
  transport::Engine& engine = *group.world->engine;
  const std::uint32_t context = group.all_contexts.collectives;
  const auto timeout = timeout_of(group, ops);
  const auto start = std::chrono::steady_clock::now();
  const auto deadline = base::Deadline::after(timeout);
  const auto stream = static_cast<cuda::Stream>(current_stream());
  std::optional<FailureFacts> failure;
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
      if (now != Link::State::ready) return now;
      messages.bind();
      link.end_turn();
      return now;
    });
    if (state == Link::State::ready) return;
    if (failure) std::rethrow_exception(to_exception(*group.world, *failure));
    if (state == Link::State::over) throw_over(group);
    constexpr auto period = std::chrono::milliseconds(1);
    engine.wait_until([](const Messenger&) { return false; }, period);
    engine.locked([&](Messenger& messenger) {
      if (!deadline.expired() && !messages.has_timed_out()) return;
      failure = give_up(group, link, number, messages, std::chrono::steady_clock::now() - start, messenger);
    });
  }
}

}  // namespace

bool post_fused(const std::shared_ptr<GroupState>& group, std::span<const P2POp> ops, std::span<Work> works) {
  if (!can_be_fused(*group, ops)) return false;
  const int device = ops.front().tensor.device().index;
  DevicePath& path = device_path_of(group, device, device_call(*group, ops));
  if (path.link == nullptr) return false;
  path.require_device(device, call_name);
  check_own_messages(*group, ops);
  Place place = take_place(*group, path, ops);
  // They go first: while NCCL waits for a peer, they tell for which one.
  FusedMessages messages(group, ops, works, std::move(place.tags));
  try {
    messages.post();
    tell(*group, *path.link, place.number, ops, messages);
  } catch (...) {
    // If it is not over: its turn would never end.
    group->world->engine->locked([&](Messenger&) { path.link->fail("a batch could not be begun"); });
    throw;
  }
  return true;
}

}  // namespace parley::detail
