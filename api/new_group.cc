// Groups of some ranks: which, agreed upon through the store (api/wireup/meeting.h).
#include <parley/error.h>
#include <parley/process_group.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/checks.h"
#include "api/device_split.h"
#include "api/group_state.h"
#include "api/posting.h"
#include "api/wireup/meeting.h"
#include "transport/base/log.h"

namespace parley {

using base::concat;
using detail::GroupAccess;
using detail::GroupState;
using detail::SplitCall;

namespace {

// Long lists are cut in texts, and told apart by their digests.
constexpr std::size_t longest_list_text = 48;

// "{0, 2, 5}".
std::string list_text(const std::vector<int>& ranks) {
  std::string text = "{";
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (text.size() > longest_list_text) return concat(text, ", ... ", ranks.size(), " ranks}");
    text += concat(i == 0 ? "" : ", ", ranks[i]);
  }
  return text + "}";
}

// FNV-1a, 64 bits.
std::uint64_t digest_of(const std::vector<int>& ranks) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const int rank : ranks)
    for (int shift = 0; shift < 32; shift += 8)
      hash = (hash ^ ((static_cast<std::uint32_t>(rank) >> shift) & 0xffU)) * 0x100000001b3U;
  return hash;
}

std::vector<int> sorted(std::vector<int> ranks) {
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

void check_list(const GroupState& group, std::span<const int> ranks) {
  if (ranks.empty()) throw UsageError("new_group: the list of ranks is empty");
  const std::vector<int> list(ranks.begin(), ranks.end());
  for (const int rank : list) check_rank(group, rank, "new_group:");
  const std::vector<int> in_order = sorted(list);
  const auto twice = std::adjacent_find(in_order.begin(), in_order.end());
  if (twice != in_order.end())
    throw UsageError(
        concat("new_group: the list ", list_text(list), " has rank ", *twice, " more than once"));
}

void set_timeout(wireup::Agenda& agenda, const GroupState& group, const GroupOptions& options) {
  agenda.timeout = options.timeout.value_or(group.world->meeting_timeout);
  agenda.gives_up = detail::gives_up(options.timeout);
}

std::uint32_t number_of_group(std::int64_t number) {
  if (number > wireup::most_groups) throw ResourceError("this world has made 2^29 groups, and has no more");
  return static_cast<std::uint32_t>(number);
}

// What all members give alike: "evens, all_reduce=ring".
std::string title_of(const GroupOptions& options) {
  return concat(options.name, options.algorithms.empty() ? "" : ", ", options.algorithms);
}

// "new_group({0, 2}, "evens")".
std::string call_text(const std::vector<int>& members, const GroupOptions& options) {
  const std::string title = title_of(options);
  return concat("new_group(", list_text(members), title.empty() ? "" : concat(", \"", title, '"'), ')');
}

// What a rank of a list contributes: "5/0 1234 new_group({0, 2})". In front what is said of devices, which
// may differ, then the digest of the whole list and the call's text.
std::string_view after_word(std::string_view contribution) {
  return contribution.substr(std::min(contribution.size(), contribution.find(' ') + 1));
}
std::string word_of(const std::string& contribution) {
  return contribution.substr(0, contribution.find(' '));
}

// Throws MismatchError that shows the first two who differ.
void require_agreement(const wireup::World& world, const wireup::Agenda& agenda,
                       const wireup::Minutes& minutes) {
  const std::string_view first = after_word(minutes.contributions.front());
  for (std::size_t i = 1; i < minutes.contributions.size(); ++i) {
    const std::string_view other = after_word(minutes.contributions[i]);
    if (other == first) continue;
    ErrorDetails details;
    details.rank = world.rank;
    details.operation = "new_group";
    throw MismatchError(concat("rank ", world.rank, ": ", agenda.call, " failed: ",
                               world.name_of(agenda.members.front()), " calls ", after_word(first), ", ",
                               world.name_of(agenda.members[i]), " calls ", after_word(other)),
                        details);
  }
}

// What the members of a list have agreed on.
struct ListMinutes {
  std::uint32_t number = 0;
  std::vector<std::string> words;  // by rank of the new group
};

// Of ranks of the world. REQUIRES: this process is among them.
ListMinutes meet_by_list(const GroupState& parent, const std::vector<int>& members, const std::string& word,
                         const GroupOptions& options) {
  wireup::World& world = *parent.world;
  wireup::Agenda agenda;
  agenda.members = sorted(members);
  agenda.call = call_text(members, options);
  const std::uint64_t set = digest_of(agenda.members);
  agenda.key = world.group_key(concat("list/", set, '/', world.group_books.next_call(set)));
  agenda.contribution = concat(word, ' ', digest_of(members), ' ', agenda.call);
  set_timeout(agenda, parent, options);
  ListMinutes result;
  result.words.reserve(members.size());  // before the others count on this rank
  const wireup::Minutes minutes = wireup::meet(world, agenda);
  require_agreement(world, agenda, minutes);
  result.number = number_of_group(minutes.number);
  for (const int member : members) {
    const auto place = std::find(agenda.members.begin(), agenda.members.end(), member);
    result.words.push_back(
        word_of(minutes.contributions[static_cast<std::size_t>(place - agenda.members.begin())]));
  }
  return result;
}

// Without votes, but with room for them: after the ranks have met, the others count on this one.
SplitCall split_call(const char* name, const GroupState& group, const GroupOptions& options) {
  SplitCall call{.name = name, .votes = {}, .timeout = options.timeout};
  call.votes.reserve(static_cast<std::size_t>(group.size));
  return call;
}

// The group that `open()` opens, null for none, after all ranks of the parent have agreed: with devices that
// are split off, if they have agreed on that. Who cannot open it takes part in that all the same.
template <typename Open>
std::shared_ptr<GroupState> open_with_devices(const std::shared_ptr<GroupState>& parent,
                                              const SplitCall& call, const Open& open) {
  std::shared_ptr<GroupState> child;
  try {
    child = open();
  } catch (...) {
    detail::split_devices(parent, call, nullptr);
    throw;
  }
  detail::split_devices(parent, call, child.get());
  return child;
}

ProcessGroup group_of_others(const GroupState& parent, std::vector<int> members, const std::string& name) {
  return GroupAccess::make(GroupState::of_others(parent.world, std::move(members), name));
}

// A member's part in a split.
struct Choice {
  int color = 0;
  int key = 0;
  int process = 0;
  std::string_view word;  // of devices
  std::string_view title;

  [[nodiscard]] std::string encode() const { return concat(color, ' ', key, ' ', word, ' ', title); }
};

// Borrows the text.
Choice parse_choice(std::string_view text, int process) noexcept {
  Choice choice;
  choice.process = process;
  const char* const end = text.data() + text.size();
  const char* at = std::from_chars(text.data(), end, choice.color).ptr;
  if (at != end) at = std::from_chars(at + 1, end, choice.key).ptr;
  if (at == end) return choice;
  const std::string_view rest = text.substr(static_cast<std::size_t>(at + 1 - text.data()));
  choice.word = rest.substr(0, rest.find(' '));
  choice.title = rest.substr(std::min(rest.size(), choice.word.size() + 1));
  return choice;
}

// Of those who chose one color.
void require_one_name(const wireup::World& world, const char* name, const std::vector<Choice>& chosen) {
  const Choice& first = chosen.front();
  for (const Choice& other : chosen) {
    if (other.title == first.title) continue;
    ErrorDetails details;
    details.rank = world.rank;
    details.operation = name;
    throw MismatchError(concat("rank ", world.rank, ": ", name, "() of color ", first.color,
                               " failed: ", world.name_of(first.process), " names it \"", first.title, "\", ",
                               world.name_of(other.process), " \"", other.title, '"'),
                        details);
  }
}

// Of the ranks of `chosen`, in the order of their keys. REQUIRES: this process is among them.
std::shared_ptr<GroupState> open_part(const GroupState& parent, const char* name, std::vector<Choice> chosen,
                                      std::int64_t number, const GroupOptions& options) {
  require_one_name(*parent.world, name, chosen);
  // Stable: of one key, those of lower rank in this group come first.
  std::stable_sort(chosen.begin(), chosen.end(),
                   [](const Choice& a, const Choice& b) { return a.key < b.key; });
  std::vector<int> members;
  for (const Choice& choice : chosen) members.push_back(choice.process);
  return GroupState::open(parent.world, number_of_group(number), std::move(members), options);
}

ProcessGroup split_group(const std::shared_ptr<GroupState>& state, const char* name, int color, int key,
                         const GroupOptions& options) {
  GroupState& group = detail::require_member(state, name);
  detail::check_options(name, options);
  wireup::World& world = *group.world;
  wireup::Agenda agenda;
  for (int rank = 0; rank < group.size; ++rank) agenda.members.push_back(group.process_of(rank));
  agenda.call = concat(name, "() of group \"", group.name, '"');
  // relaxed: calls of split() on one group come in one order by themselves.
  const std::uint64_t call = group.splits.fetch_add(1, std::memory_order_relaxed);
  // The parts of one split have one number, for they have no member in common.
  agenda.key = world.group_key(concat(name, '/', group.context, '/', digest_of(agenda.members), '/', call));
  const std::string word = detail::split_word(group, options), title = title_of(options);
  agenda.contribution = Choice{.color = color, .key = key, .word = word, .title = title}.encode();
  set_timeout(agenda, group, options);
  SplitCall devices = split_call(name, group, options);
  std::vector<Choice> chosen;
  chosen.reserve(agenda.members.size());  // likewise
  const wireup::Minutes minutes = wireup::meet(world, agenda);

  devices.number = minutes.number;
  for (std::size_t i = 0; i < minutes.contributions.size(); ++i) {
    const Choice choice = parse_choice(minutes.contributions[i], agenda.members[i]);
    devices.votes.push_back(detail::vote_of(group, choice.color, choice.word));
    if (choice.color == color) chosen.push_back(choice);
  }
  const auto open = [&]() -> std::shared_ptr<GroupState> {
    return color < 0 ? nullptr : open_part(group, name, std::move(chosen), minutes.number, options);
  };
  auto child = open_with_devices(state, devices, open);
  return child == nullptr ? group_of_others(group, {}, options.name) : GroupAccess::make(std::move(child));
}

}  // namespace

ProcessGroup ProcessGroup::new_group(std::span<const int> ranks, const GroupOptions& options) {
  const GroupState& group = detail::require_group(state_);
  check_list(group, ranks);
  detail::check_options("new_group", options);
  std::vector<int> members;
  for (const int rank : ranks) members.push_back(group.process_of(rank));
  const bool is_member = std::find(members.begin(), members.end(), group.world->rank) != members.end();
  if (!is_member) return group_of_others(group, std::move(members), options.name);
  const ListMinutes minutes = meet_by_list(group, members, detail::no_split_word, options);
  return GroupAccess::make(GroupState::open(group.world, minutes.number, std::move(members), options));
}

ProcessGroup ProcessGroup::dup(const GroupOptions& options) {
  const GroupState& group = detail::require_member(state_, "dup");
  detail::check_options("dup", options);
  std::vector<int> members;
  for (int rank = 0; rank < group.size; ++rank) members.push_back(group.process_of(rank));
  SplitCall devices = split_call("dup", group, options);
  const ListMinutes minutes = meet_by_list(group, members, detail::split_word(group, options), options);
  devices.number = minutes.number;
  for (const std::string& word : minutes.words) devices.votes.push_back(detail::vote_of(group, 0, word));
  const auto open = [&] {
    return GroupState::open(group.world, minutes.number, std::move(members), options);
  };
  return GroupAccess::make(open_with_devices(state_, devices, open));
}

ProcessGroup ProcessGroup::split(int color, int key, const GroupOptions& options) {
  return split_group(state_, "split", color, key, options);
}

ProcessGroup ProcessGroup::split_by_host(const GroupOptions& options) {
  const GroupState& group = detail::require_member(state_, "split_by_host");
  const auto host = group.world->roster->topology().host_number(group.process_of(group.rank));
  return split_group(state_, "split_by_host", static_cast<int>(host), 0, options);
}

bool ProcessGroup::is_member() const {
  return detail::require_group(state_).is_member();
}

std::string ProcessGroup::name() const {
  return detail::require_group(state_).name;
}

int ProcessGroup::global_rank(int group_rank) const {
  const GroupState& group = detail::require_group(state_);
  detail::check_rank(group, group_rank, "global_rank:");
  return group.process_of(group_rank);
}

int ProcessGroup::group_rank(int global_rank) const {
  const GroupState& group = detail::require_group(state_);
  const int world_size = group.world->size;
  if (global_rank < 0 || global_rank >= world_size)
    throw UsageError(concat("group_rank: rank ", global_rank,
                            " is out of range: ranks of the world are 0 to ", world_size - 1));
  const int rank = group.rank_of(global_rank);
  if (rank < 0)
    throw UsageError(concat("rank ", global_rank, " of the world is not in ", detail::text_of(group)));
  return rank;
}

}  // namespace parley
