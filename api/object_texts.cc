// Lists of texts from rank to rank: in a context of their own, each list one message, whose receiver looks at
// its size first.
#include <parley/error.h>
#include <parley/object_options.h>

#include <utility>

#include "api/checks.h"
#include "api/group_state.h"
#include "api/message_access.h"
#include "api/object_checks.h"
#include "api/text_list.h"
#include "transport/base/deadline.h"
#include "transport/base/log.h"

namespace parley::detail {
namespace {

using base::concat;

// Where lists travel. Its messages match no others of the group.
class TextChannel {
 public:
  TextChannel(const GroupState& group, const ObjectOptions& options)
      : group_(GroupAccess::make(group.within(group.all_contexts.object_lists))), options_(options) {}

  void send(std::span<const std::string> texts, int destination) {
    const std::vector<std::byte> message = encode_texts(texts);
    group_.send(message, destination, {.tag = options_.tag, .timeout = options_.timeout});
  }
  TextList receive(int source) {
    const auto deadline = base::Deadline::after(options_.timeout.value_or(no_timeout));
    Message message = group_.probe(source, {.tag = options_.tag, .timeout = options_.timeout});
    const int sender = message.source();
    // Without a timeout of its own each wait has the world's.
    RecvOptions rest;
    if (options_.timeout) rest.timeout = deadline.remaining();
    if (message.bytes() > options_.max_bytes) refuse_large(message, rest);
    std::vector<std::byte> bytes(message.bytes());
    MessageAccess::receive(message, bytes, rest);
    return {checked_texts(group_, sender, bytes, options_), sender};
  }

 private:
  [[noreturn]] void refuse_large(Message& message, const RecvOptions& rest) {
    const std::string why =
        concat("it has ", message.bytes(), " bytes, beyond max_bytes, ", options_.max_bytes);
    const int sender = message.source();
    try {
      MessageAccess::receive(message, std::span<std::byte>(), rest);  // takes it off the link
    } catch (const TruncationError&) {
    }
    refuse_object(group_, sender, why);
  }

  ProcessGroup group_;
  const ObjectOptions& options_;
};

}  // namespace

std::string size_fault(std::span<const std::string> texts, const ObjectOptions& options) {
  const std::size_t bytes = encoded_bytes(texts);
  if (bytes <= options.max_bytes) return {};
  return concat("a list of objects of ", bytes, " bytes is beyond max_bytes, ", options.max_bytes);
}

std::vector<std::string> checked_texts(const ProcessGroup& group, int source, std::span<const std::byte> list,
                                       const ObjectOptions& options) {
  auto texts = decode_texts(list);
  if (!texts.ok()) refuse_object(group, source, texts.failure().message);
  for (const std::string& text : texts.value())
    if (const int depth = nesting_of(text); depth > options.max_depth)
      refuse_object(group, source,
                    concat("it nests ", depth, " deep, beyond max_depth, ", options.max_depth));
  return std::move(texts).value();
}

void send_texts(ProcessGroup& group, std::span<const std::string> texts, int destination,
                const ObjectOptions& options) {
  const GroupState& state = require_member(GroupAccess::state(group), "send_object_list");
  if (const std::string fault = size_fault(texts, options); !fault.empty()) throw UsageError(fault);
  TextChannel(state, options).send(texts, destination);
}

TextList receive_texts(ProcessGroup& group, int source, const ObjectOptions& options) {
  const GroupState& state = require_member(GroupAccess::state(group), "recv_object_list");
  return TextChannel(state, options).receive(source);
}

void refuse_object(const ProcessGroup& group, int source, const std::string& why) {
  const GroupState& state = require_group(GroupAccess::state(group));
  ErrorDetails details;
  details.rank = state.world->rank;
  details.peer = details.culprit = state.process_of(source);
  details.operation = "objects";
  throw ObjectError(concat("rank ", details.rank, ": a list of objects from ",
                           state.world->name_of(details.peer), " cannot be taken: ", why),
                    details);
}

}  // namespace parley::detail
