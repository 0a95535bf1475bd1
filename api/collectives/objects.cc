// Lists of texts among all ranks of a group, by two collectives: in the first one all tell all how large what
// they give is, or that they cannot give it, and what they would take; so all know alike whether somebody
// refuses, before memory is taken and before anything else travels. In the second one the lists move. What is
// scattered has one between them, for its sizes.
#include <parley/error.h>
#include <parley/object_options.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "api/checks.h"
#include "api/collectives/arguments.h"
#include "api/object_checks.h"
#include "api/text_list.h"
#include "transport/base/log.h"

namespace parley::detail {
namespace {

using base::concat;

using Bytes = std::vector<std::byte>;
using Texts = std::vector<std::string>;

constexpr int no_root = -1;
// Instead of bytes: what was to be given cannot be.
constexpr std::uint64_t cannot_give = std::numeric_limits<std::uint64_t>::max();

// What each rank tells all others. Numbers as they are in memory: ranks have one byte order.
struct Announcement {
  std::uint64_t bytes = 0;  // of the list that it gives to others, or cannot_give
  std::uint64_t limit = 0;  // of a list that it takes
};

// A list that goes from one rank to another one.
struct Delivery {
  int giver = 0;
  int taker = 0;
  std::uint64_t bytes = 0;
};

// One call, whose collectives have its name and what its ranks have to agree on.
class ObjectCall {
 public:
  ObjectCall(const ProcessGroup& group, const char* name, schedule::Operation operation, int root,
             const OwnTexts& mine, const ObjectOptions& options)
      : state_(GroupAccess::state(group)),
        group_(require_member(state_, name)),
        name_(name),
        operation_(operation),
        root_(root),
        fault_(mine.fault),
        options_(options) {
    if (root != no_root) check_rank(group_, root, concat(name, ":").c_str());
  }

  [[nodiscard]] bool is_root() const noexcept { return group_.rank == root_; }
  [[nodiscard]] std::size_t size() const noexcept { return static_cast<std::size_t>(group_.size); }
  [[nodiscard]] std::size_t root() const noexcept { return static_cast<std::size_t>(root_); }

  // This rank cannot give what it should, and announce() says so. Until then nothing may throw: the others
  // would pair this call's collectives with those of the next one.
  void note_fault(const std::string& fault) {
    if (fault_.empty()) fault_ = fault;
  }
  // A list to give, as it travels.
  Bytes encode(std::span<const std::string> texts) {
    note_fault(size_fault(texts, options_));
    return fault_.empty() ? encode_texts(texts) : Bytes();
  }

  // Bytes that each rank gives. `own`: of this one. Throws UsageError when this one cannot give, ObjectError
  // when another one cannot.
  std::vector<std::uint64_t> announce(std::uint64_t own) {
    const Announcement mine{fault_.empty() ? own : cannot_give, options_.max_bytes};
    announced_.resize(size());
    run(schedule::Operation::all_gather, std::as_bytes(std::span(&mine, 1)),
        std::as_writable_bytes(std::span(announced_)), {.even = sizeof(Announcement)});
    if (!fault_.empty()) throw UsageError(fault_);
    std::vector<std::uint64_t> bytes;
    for (const Announcement& each : announced_) {
      const int giver = static_cast<int>(bytes.size());
      if (each.bytes == cannot_give)
        refuse_object(GroupAccess::make(state_), giver, "it cannot be sent, as a UsageError there tells");
      bytes.push_back(each.bytes);
    }
    return bytes;
  }

  // Throws ObjectError on all ranks if one is beyond what its taker has announced. What a rank gives itself
  // was looked at before.
  void agree_to(const std::vector<Delivery>& deliveries) const {
    const Delivery* refused = nullptr;
    for (const Delivery& delivery : deliveries) {
      if (delivery.giver == delivery.taker || delivery.bytes <= limit_of(delivery.taker)) continue;
      if (refused == nullptr || delivery.taker == group_.rank) refused = &delivery;
    }
    if (refused == nullptr) return;
    const std::string whose = refused->taker == group_.rank
                                  ? ""
                                  : concat(" of ", group_.world->name_of(group_.process_of(refused->taker)));
    refuse_object(
        GroupAccess::make(state_), refused->giver,
        concat("it has ", refused->bytes, " bytes, beyond max_bytes, ", limit_of(refused->taker), whose));
  }

  struct Counts {
    std::uint64_t even = 0;                      // of each rank, or of the whole of a broadcast
    std::span<const std::uint64_t> uneven = {};  // by rank, where they differ
  };

  // Moves bytes; a broadcast's are the output, at the root, too.
  void run(schedule::Operation operation, std::span<const std::byte> in, std::span<std::byte> out,
           const Counts& counts) {
    CollectiveCall call =
        begin_call(group_, name_, operation, CollectiveOptions{.timeout = options_.timeout});
    call.call.signature = {
        .operation = operation_, .dtype = DType::bytes, .root = root_, .is_of_objects = true};
    call.call.question.root = root_ == no_root ? 0 : static_cast<std::uint32_t>(root_);
    call.call.question.in_place = operation == schedule::Operation::broadcast;
    call.call.input = operation == schedule::Operation::broadcast ? out.data() : in.data();
    call.call.output = out.data();
    call.call.input_count = in.size();
    call.call.output_count = out.size();
    call.call.question.count = counts.even;
    call.call.question.counts = counts.uneven;
    launch(state_, std::move(call));
  }

  // The texts in what has come from `source`.
  [[nodiscard]] Texts texts_of(std::span<const std::byte> list, int source) const {
    return checked_texts(GroupAccess::make(state_), source, list, options_);
  }
  [[nodiscard]] std::string text_of_one(std::span<const std::byte> list, int source) const {
    Texts texts = texts_of(list, source);
    if (texts.size() != 1)
      refuse_object(GroupAccess::make(state_), source,
                    concat("it has ", texts.size(), " objects instead of one"));
    return std::move(texts.front());
  }
  // One of each rank, one after another.
  [[nodiscard]] Texts texts_of_all(std::span<const std::byte> lists,
                                   std::span<const std::uint64_t> sizes) const {
    Texts texts;
    for (int rank = 0; rank < group_.size; ++rank) {
      const std::uint64_t bytes = sizes[static_cast<std::size_t>(rank)];
      texts.push_back(text_of_one(lists.first(bytes), rank));
      lists = lists.subspan(bytes);
    }
    return texts;
  }

 private:
  [[nodiscard]] std::uint64_t limit_of(int rank) const noexcept {
    return announced_[static_cast<std::size_t>(rank)].limit;
  }

  const std::shared_ptr<GroupState> state_;
  const GroupState& group_;
  const char* const name_;
  const schedule::Operation operation_;
  const int root_;
  std::string fault_;  // empty: none
  const ObjectOptions& options_;
  std::vector<Announcement> announced_;
};

std::uint64_t sum_of(const std::vector<std::uint64_t>& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0});
}

std::vector<Delivery> to_all(int giver, std::uint64_t bytes, std::size_t ranks) {
  std::vector<Delivery> deliveries;
  for (std::size_t taker = 0; taker < ranks; ++taker)
    deliveries.push_back({giver, static_cast<int>(taker), bytes});
  return deliveries;
}

}  // namespace

Texts broadcast_texts(ProcessGroup& group, const OwnTexts& mine, int source, const ObjectOptions& options) {
  ObjectCall call(group, "broadcast_object_list", schedule::Operation::broadcast, source, mine, options);
  Bytes list = call.is_root() ? call.encode(mine.texts) : Bytes();
  const std::uint64_t bytes = call.announce(list.size())[call.root()];
  call.agree_to(to_all(source, bytes, call.size()));
  list.resize(bytes);
  call.run(schedule::Operation::broadcast, {}, list, {.even = bytes});
  return call.is_root() ? mine.texts : call.texts_of(list, source);
}

Texts gather_texts(ProcessGroup& group, const OwnTexts& mine, int destination, const ObjectOptions& options) {
  ObjectCall call(group, "gather_object", schedule::Operation::gather, destination, mine, options);
  const Bytes list = call.encode(mine.texts);
  const std::vector<std::uint64_t> sizes = call.announce(list.size());
  std::vector<Delivery> deliveries;
  for (std::size_t giver = 0; giver < sizes.size(); ++giver)
    deliveries.push_back({static_cast<int>(giver), destination, sizes[giver]});
  call.agree_to(deliveries);
  Bytes lists(call.is_root() ? sum_of(sizes) : 0);
  call.run(schedule::Operation::gather, list, lists, {.uneven = sizes});
  return call.is_root() ? call.texts_of_all(lists, sizes) : Texts();
}

Texts all_gather_texts(ProcessGroup& group, const OwnTexts& mine, const ObjectOptions& options) {
  ObjectCall call(group, "all_gather_object", schedule::Operation::all_gather, no_root, mine, options);
  const Bytes list = call.encode(mine.texts);
  const std::vector<std::uint64_t> sizes = call.announce(list.size());
  for (std::size_t giver = 0; giver < sizes.size(); ++giver)
    call.agree_to(to_all(static_cast<int>(giver), sizes[giver], call.size()));
  Bytes lists(sum_of(sizes));
  call.run(schedule::Operation::all_gather, list, lists, {.uneven = sizes});
  return call.texts_of_all(lists, sizes);
}

std::string scatter_texts(ProcessGroup& group, const OwnTexts& mine, int source,
                          const ObjectOptions& options) {
  ObjectCall call(group, "scatter_object_list", schedule::Operation::scatter, source, mine, options);
  std::vector<std::uint64_t> sizes(call.size());
  Bytes lists;
  if (call.is_root()) {
    const std::span<const std::string> texts = mine.texts;
    if (texts.size() != call.size())
      call.note_fault(concat("scatter_object_list: ", texts.size(), " objects for ", call.size(), " ranks"));
    for (std::size_t taker = 0; taker < std::min(texts.size(), call.size()); ++taker) {
      const Bytes list = call.encode(texts.subspan(taker, 1));
      sizes[taker] = list.size();
      lists.insert(lists.end(), list.begin(), list.end());
    }
  }
  call.announce(0);
  const auto wire_sizes = std::as_writable_bytes(std::span(sizes));
  call.run(schedule::Operation::broadcast, {}, wire_sizes, {.even = wire_sizes.size()});
  std::vector<Delivery> deliveries;
  for (std::size_t taker = 0; taker < sizes.size(); ++taker)
    deliveries.push_back({source, static_cast<int>(taker), sizes[taker]});
  call.agree_to(deliveries);
  Bytes own(sizes[static_cast<std::size_t>(group.rank())]);
  call.run(schedule::Operation::scatter, lists, own, {.uneven = sizes});
  return call.text_of_one(own, source);
}

}  // namespace parley::detail
