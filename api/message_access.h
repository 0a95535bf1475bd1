#pragma once

#include <parley/message.h>

#include <memory>

#include "api/group_state.h"
#include "transport/protocol/messenger.h"

namespace parley::detail {

struct HeldMessage {
  std::shared_ptr<GroupState> group;
  transport::Unexpected* message = nullptr;
};

struct MessageAccess {
  // REQUIRES: the message is held.
  static Message make(std::shared_ptr<GroupState> group, transport::Unexpected& message);
  // Message::recv(), which takes at most the timeout of these options; their tag is not looked at.
  static RecvStatus receive(Message& message, const Tensor& tensor, const RecvOptions& options);
};

}  // namespace parley::detail
