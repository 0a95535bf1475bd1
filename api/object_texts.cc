// Lists of texts between the ranks of a group: in contexts of their own, each list one message, whose
// receiver looks at its size first. The group operations are flat, so that each rank that needs another one
// hears from it itself, and learns of its death.
#include <parley/error.h>
#include <parley/object_options.h>

#include <utility>

#include "api/checks.h"
#include "api/collective_tags.h"
#include "api/group_state.h"
#include "api/text_list.h"
#include "transport/base/log.h"

namespace parley::detail {
namespace {

using base::concat;
using Texts = std::vector<std::string>;

void check_size(std::span<const std::string> texts, const ObjectOptions& options) {
  const std::size_t bytes = encoded_bytes(texts);
  if (bytes > options.max_bytes)
    throw UsageError(
        concat("a list of objects of ", bytes, " bytes is beyond max_bytes, ", options.max_bytes));
}

// Where lists travel. Its messages match no others of the group.
class Channel {
 public:
  // `label_bytes`: what a list may have beside the objects.
  Channel(const GroupState& group, std::uint32_t context, std::int64_t tag, const ObjectOptions& options,
          std::size_t label_bytes = 0)
      : group_(GroupAccess::make(group.within(context))),
        tag_(tag),
        options_(options),
        most_bytes_(options.max_bytes + label_bytes) {}

  void send(std::span<const std::string> texts, int destination) {
    const std::vector<std::byte> message = encode_texts(texts);
    group_.send(message, destination, {.tag = tag_, .timeout = options_.timeout});
  }
  // REQUIRES: the message lives until the Work has ended.
  Work isend(const std::vector<std::byte>& message, int destination) {
    return group_.isend(message, destination, {.tag = tag_, .timeout = options_.timeout});
  }
  TextList receive(int source) {
    Message message = group_.probe(source, {.tag = tag_, .timeout = options_.timeout});
    const int sender = message.source();
    if (message.bytes() > most_bytes_) refuse_large(message);
    std::vector<std::byte> bytes(message.bytes());
    message.recv(bytes);
    auto texts = decode_texts(bytes);
    if (!texts.ok()) refuse_object(group_, sender, texts.failure().message);
    for (const std::string& text : texts.value())
      if (const int depth = nesting_of(text); depth > options_.max_depth)
        refuse_object(group_, sender,
                      concat("it nests ", depth, " deep, beyond max_depth, ", options_.max_depth));
    return {std::move(texts).value(), sender};
  }

 private:
  [[noreturn]] void refuse_large(Message& message) {
    const std::string why =
        concat("it has ", message.bytes(), " bytes, beyond max_bytes, ", options_.max_bytes);
    const int sender = message.source();
    try {
      message.recv(std::span<std::byte>());  // takes it off the link
    } catch (const TruncationError&) {
    }
    refuse_object(group_, sender, why);
  }

  ProcessGroup group_;
  std::int64_t tag_;
  const ObjectOptions& options_;
  const std::size_t most_bytes_;
};

// A group operation: its lists begin with what the sender calls, for ranks that call different ones.
class Collective {
 public:
  Collective(ProcessGroup& group, std::string call, const ObjectOptions& options)
      : state_(require_member(GroupAccess::state(group), call.c_str())),
        call_(std::move(call)),
        // relaxed: it only counts; the calls of one group are in one order.
        channel_(state_, state_.all_contexts.object_collectives,
                 object_tag(state_.object_collectives.fetch_add(1, std::memory_order_relaxed)), options,
                 encoded_bytes({&call_, 1})) {}

  [[nodiscard]] int rank() const noexcept { return state_.rank; }
  [[nodiscard]] int size() const noexcept { return state_.size; }

  [[nodiscard]] Texts labelled(std::span<const std::string> texts) const {
    Texts list{call_};
    list.insert(list.end(), texts.begin(), texts.end());
    return list;
  }
  void send(std::span<const std::string> texts, int destination) {
    channel_.send(labelled(texts), destination);
  }
  // To all others, each of which calls receive().
  void send_to_all(std::span<const std::string> texts, std::vector<std::byte>& message,
                   std::vector<Work>& works) {
    message = encode_texts(labelled(texts));
    for (int step = 1; step < size(); ++step)
      works.push_back(channel_.isend(message, (rank() + step) % size()));
  }
  Texts receive(int source) {
    TextList list = channel_.receive(source);
    if (list.texts.empty() || list.texts.front() != call_) refuse_call(source, list.texts);
    list.texts.erase(list.texts.begin());
    return std::move(list.texts);
  }
  // Of one text.
  std::string receive_one(int source) {
    Texts texts = receive(source);
    if (texts.size() != 1) refuse_call(source, texts);
    return std::move(texts.front());
  }

 private:
  [[noreturn]] void refuse_call(int source, const Texts& texts) const {
    ErrorDetails details;
    details.rank = state_.world->rank;
    details.peer = details.culprit = state_.process_of(source);
    details.operation = call_;
    const std::string theirs = texts.empty() ? "something else" : texts.front();
    throw MismatchError(
        concat("rank ", details.rank, " calls ", call_, ", ", state_.world->name_of(details.peer), " calls ",
               theirs, ": all ranks of a group call the same operations in one order"),
        details);
  }

  GroupState& state_;
  const std::string call_;
  Channel channel_;
};

}  // namespace

void send_texts(ProcessGroup& group, std::span<const std::string> texts, int destination,
                const ObjectOptions& options) {
  const GroupState& state = require_member(GroupAccess::state(group), "send_object_list");
  check_size(texts, options);
  Channel(state, state.all_contexts.object_lists, options.tag, options).send(texts, destination);
}

TextList receive_texts(ProcessGroup& group, int source, const ObjectOptions& options) {
  const GroupState& state = require_member(GroupAccess::state(group), "recv_object_list");
  return Channel(state, state.all_contexts.object_lists, options.tag, options).receive(source);
}

Texts broadcast_texts(ProcessGroup& group, std::span<const std::string> texts, int source,
                      const ObjectOptions& options) {
  check_rank(require_member(GroupAccess::state(group), "broadcast_object_list"), source,
             "broadcast_object_list:");
  if (group.rank() == source) check_size(texts, options);
  Collective collective(group, concat("broadcast_object_list from ", source), options);
  if (collective.rank() != source) return collective.receive(source);
  std::vector<std::byte> message;
  std::vector<Work> works;
  collective.send_to_all(texts, message, works);
  wait_all(works);
  return {texts.begin(), texts.end()};
}

Texts gather_texts(ProcessGroup& group, const std::string& text, int destination,
                   const ObjectOptions& options) {
  check_rank(require_member(GroupAccess::state(group), "gather_object"), destination, "gather_object:");
  check_size({&text, 1}, options);
  Collective collective(group, concat("gather_object to ", destination), options);
  if (collective.rank() != destination) {
    collective.send({&text, 1}, destination);
    return {};
  }
  Texts all;
  for (int rank = 0; rank < collective.size(); ++rank)
    all.push_back(rank == destination ? text : collective.receive_one(rank));
  return all;
}

Texts all_gather_texts(ProcessGroup& group, const std::string& text, const ObjectOptions& options) {
  check_size({&text, 1}, options);
  Collective collective(group, "all_gather_object", options);
  std::vector<std::byte> message;
  std::vector<Work> works;
  collective.send_to_all({&text, 1}, message, works);
  Texts all;
  for (int rank = 0; rank < collective.size(); ++rank)
    all.push_back(rank == collective.rank() ? text : collective.receive_one(rank));
  wait_all(works);
  return all;
}

std::string scatter_texts(ProcessGroup& group, std::span<const std::string> texts, int source,
                          const ObjectOptions& options) {
  check_rank(require_member(GroupAccess::state(group), "scatter_object_list"), source,
             "scatter_object_list:");
  if (group.rank() == source) {
    const auto count = static_cast<std::size_t>(group.size());
    if (texts.size() != count)
      throw UsageError(concat("scatter_object_list: ", texts.size(), " objects for ", count, " ranks"));
    for (const std::string& text : texts) check_size({&text, 1}, options);
  }
  Collective collective(group, concat("scatter_object_list from ", source), options);
  if (collective.rank() != source) return collective.receive_one(source);
  for (int rank = 0; rank < collective.size(); ++rank)
    if (rank != source) collective.send(texts.subspan(static_cast<std::size_t>(rank), 1), rank);
  return texts[static_cast<std::size_t>(source)];
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
