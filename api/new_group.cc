// Groups of some ranks: which, agreed upon through the store (api/wireup/meeting.h).
#include <parley/error.h>
#include <parley/process_group.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "api/checks.h"
#include "api/group_state.h"
#include "api/wireup/meeting.h"
#include "transport/base/log.h"

namespace parley {

using base::concat;
using detail::GroupAccess;
using detail::GroupState;

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
  agenda.gives_up = options.timeout.value_or(no_timeout) != no_timeout;
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

// Throws MismatchError that shows the first two who differ. Beside its text, each call has the digest of its
// whole list.
void require_agreement(const wireup::World& world, const wireup::Agenda& agenda,
                       const wireup::Minutes& minutes) {
  const std::string& first = minutes.contributions.front();
  for (std::size_t i = 1; i < minutes.contributions.size(); ++i) {
    const std::string& other = minutes.contributions[i];
    if (other == first) continue;
    const auto text = [](const std::string& contribution) {
      return contribution.substr(contribution.find(' ') + 1);
    };
    ErrorDetails details;
    details.rank = world.rank;
    details.operation = "new_group";
    throw MismatchError(
        concat("rank ", world.rank, ": ", agenda.call, " failed: ", world.name_of(agenda.members.front()),
               " calls ", text(first), ", ", world.name_of(agenda.members[i]), " calls ", text(other)),
        details);
  }
}

// Of ranks of the world. REQUIRES: this process is among them.
ProcessGroup make_group(const GroupState& parent, std::vector<int> members, const GroupOptions& options) {
  wireup::World& world = *parent.world;
  wireup::Agenda agenda;
  agenda.members = sorted(members);
  agenda.call = call_text(members, options);
  const std::uint64_t set = digest_of(agenda.members);
  agenda.key = world.group_key(concat("list/", set, '/', world.group_books.next_call(set)));
  agenda.contribution = concat(digest_of(members), ' ', agenda.call);
  set_timeout(agenda, parent, options);
  const wireup::Minutes minutes = wireup::meet(world, agenda);
  require_agreement(world, agenda, minutes);
  return GroupAccess::make(
      GroupState::open(parent.world, number_of_group(minutes.number), std::move(members), options));
}

ProcessGroup group_of_others(const GroupState& parent, std::vector<int> members, const std::string& name) {
  return GroupAccess::make(GroupState::of_others(parent.world, std::move(members), name));
}

// A member's part in a split.
struct Choice {
  int color = 0;
  int key = 0;
  int process = 0;
  std::string title;
};

Choice parse_choice(const std::string& text, int process) {
  Choice choice;
  choice.process = process;
  const char* const end = text.data() + text.size();
  const char* at = std::from_chars(text.data(), end, choice.color).ptr;
  if (at != end) at = std::from_chars(at + 1, end, choice.key).ptr;
  if (at != end) choice.title.assign(at + 1, end);
  return choice;
}

// Of those who chose one color.
void require_one_name(const wireup::World& world, const std::vector<Choice>& chosen) {
  const Choice& first = chosen.front();
  for (const Choice& other : chosen) {
    if (other.title == first.title) continue;
    ErrorDetails details;
    details.rank = world.rank;
    details.operation = "split";
    throw MismatchError(concat("rank ", world.rank, ": split() of color ", first.color,
                               " failed: ", world.name_of(first.process), " names it \"", first.title, "\", ",
                               world.name_of(other.process), " \"", other.title, '"'),
                        details);
  }
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
  return make_group(group, std::move(members), options);
}

ProcessGroup ProcessGroup::dup(const GroupOptions& options) {
  const GroupState& group = detail::require_member(state_, "dup");
  std::vector<int> all(static_cast<std::size_t>(group.size));
  for (int rank = 0; rank < group.size; ++rank) all[static_cast<std::size_t>(rank)] = rank;
  return new_group(all, options);
}

ProcessGroup ProcessGroup::split(int color, int key, const GroupOptions& options) {
  GroupState& group = detail::require_member(state_, "split");
  detail::check_options("split", options);
  wireup::World& world = *group.world;
  wireup::Agenda agenda;
  for (int rank = 0; rank < group.size; ++rank) agenda.members.push_back(group.process_of(rank));
  agenda.call = concat("split() of group \"", group.name, '"');
  // relaxed: calls of split() on one group come in one order by themselves.
  const std::uint64_t call = group.splits.fetch_add(1, std::memory_order_relaxed);
  // The parts of one split have one number, for they have no member in common.
  agenda.key = world.group_key(concat("split/", group.context, '/', digest_of(agenda.members), '/', call));
  agenda.contribution = concat(color, ' ', key, ' ', title_of(options));
  set_timeout(agenda, group, options);
  const wireup::Minutes minutes = wireup::meet(world, agenda);

  if (color < 0) return group_of_others(group, {}, options.name);
  std::vector<Choice> chosen;
  for (std::size_t i = 0; i < minutes.contributions.size(); ++i) {
    const Choice choice = parse_choice(minutes.contributions[i], agenda.members[i]);
    if (choice.color == color) chosen.push_back(choice);
  }
  require_one_name(world, chosen);
  // Stable: of one key, those of lower rank in this group come first.
  std::stable_sort(chosen.begin(), chosen.end(),
                   [](const Choice& a, const Choice& b) { return a.key < b.key; });
  std::vector<int> members;
  for (const Choice& choice : chosen) members.push_back(choice.process);
  return GroupAccess::make(
      GroupState::open(group.world, number_of_group(minutes.number), std::move(members), options));
}

ProcessGroup ProcessGroup::split_by_host(const GroupOptions& options) {
  const GroupState& group = detail::require_member(state_, "split_by_host");
  const wireup::Topology& topology = group.world->roster->topology();
  const auto host_of = [&](int rank) { return topology.host_number(group.process_of(rank)); };
  std::vector<int> neighbours;
  for (int rank = 0; rank < group.size; ++rank)
    if (host_of(rank) == host_of(group.rank)) neighbours.push_back(rank);
  return new_group(neighbours, options);
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
