#include <parley/error.h>
#include <parley/message.h>

#include <optional>
#include <utility>

#include "api/checks.h"
#include "api/message_access.h"
#include "api/on_device.h"
#include "api/operation.h"
#include "api/posting.h"

namespace parley {

using transport::Messenger;
using transport::Unexpected;

namespace detail {

Message MessageAccess::make(std::shared_ptr<GroupState> group, Unexpected& message) {
  Message result;
  result.status_ = {group->rank_of(static_cast<int>(message.envelope.source)), message.envelope.tag,
                    message.message_bytes};
  result.dtype_ = static_cast<DType>(message.type_code);
  result.held_ = std::make_unique<HeldMessage>(HeldMessage{std::move(group), &message});
  return result;
}

RecvStatus MessageAccess::receive(Message& message, const Tensor& tensor, const RecvOptions& options) {
  if (message.held_ == nullptr) throw UsageError("this message was received before");
  GroupState& group = require_group(message.held_->group);
  auto spec =
      receive_spec(group, tensor, message.source(), {.tag = message.tag(), .timeout = options.timeout});
  const std::shared_ptr<GroupState> keep = message.held_->group;
  const transport::Posted posted =
      group.world->engine->locked([&](Messenger& messenger) -> transport::Posted {
        if (!tensor.device().is_cpu() && (spec.device = begin_on_device(group, tensor)) == nullptr)
          return {base::Code::exhausted};
        const transport::Posted received = messenger.receive_held(*message.held_->message, spec);
        if (received.request == nullptr && spec.device != nullptr) spec.device->release();
        return received;
      });
  const FailedOperation description = describe(spec);
  if (posted.request == nullptr) throw_failure(group, description, posted.status);
  message.held_.reset();
  auto operation = Operation::within_call(group, *posted.request, description);
  return finish_within(operation, no_timeout);
}

}  // namespace detail

Message::Message() = default;
Message::Message(Message&&) noexcept = default;

Message& Message::operator=(Message&& other) noexcept {
  if (this == &other) return *this;
  Message dropped(std::move(*this));  // puts our message back
  held_ = std::move(other.held_);
  status_ = other.status_;
  dtype_ = other.dtype_;
  return *this;
}

Message::~Message() {
  if (held_ == nullptr || held_->group->world->engine->in_forked_child()) return;
  held_->group->world->engine->locked([&](Messenger& messenger) { messenger.put_back(*held_->message); });
}

RecvStatus Message::recv(const Tensor& tensor) {
  return detail::MessageAccess::receive(*this, tensor, {});
}

std::optional<Message> ProcessGroup::iprobe(int source, const RecvOptions& options) {
  detail::GroupState& group = detail::require_member(state_, "iprobe");
  detail::check_source(group, source, options.tag, "iprobe");
  const auto pattern = detail::pattern_of(group, source, options.tag);
  const auto take = [&](Messenger& messenger) {
    Unexpected* message = messenger.peek(pattern);
    if (message != nullptr) messenger.hold(*message);
    return message;
  };
  transport::Engine& engine = *group.world->engine;
  Unexpected* message = engine.locked(take);
  if (message == nullptr && engine.poll() != 0) message = engine.locked(take);
  if (message == nullptr) {
    const base::Status obstacle =
        engine.inspect([&](const Messenger& messenger) { return messenger.receive_obstacle(pattern); });
    if (!obstacle.failed()) return std::nullopt;
    const int peer = group.process_or_any(source);
    detail::throw_failure(group, {"iprobe", group.context, peer, options.tag, 0}, obstacle);
  }
  return detail::MessageAccess::make(state_, *message);
}

Message ProcessGroup::probe(int source, const RecvOptions& options) {
  detail::GroupState& group = detail::require_member(state_, "probe");
  detail::check_source(group, source, options.tag, "probe");
  const auto pattern = detail::pattern_of(group, source, options.tag);
  const auto timeout = options.timeout.value_or(group.world->timeout);
  transport::Engine& engine = *group.world->engine;
  Unexpected* message = nullptr;
  base::Status obstacle;
  engine.wait_until(
      [&](Messenger& messenger) {
        if (message != nullptr) return true;  // asked again after it held
        message = messenger.peek(pattern);
        if (message != nullptr) messenger.hold(*message);
        if (message == nullptr) obstacle = messenger.receive_obstacle(pattern);
        return message != nullptr || obstacle.failed();
      },
      timeout);
  if (message != nullptr) return detail::MessageAccess::make(state_, *message);
  const detail::FailedOperation description{"probe", group.context, group.process_or_any(source), options.tag,
                                            0};
  if (obstacle.failed()) detail::throw_failure(group, description, obstacle);
  auto facts = engine.locked(
      [&](Messenger& own) { return detail::facts_of(description, base::Code::timed_out, own); });
  facts.elapsed = timeout;
  std::rethrow_exception(detail::to_exception(*group.world, facts));
}

}  // namespace parley
