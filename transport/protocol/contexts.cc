#include "transport/protocol/contexts.h"

#include <algorithm>

namespace parley::transport {
namespace {

bool comes_before(const OpenContext& open, std::uint32_t context) noexcept {
  return open.context < context;
}

}  // namespace

bool OpenContext::has_member(std::uint32_t process) const noexcept {
  return std::binary_search(members.begin(), members.end(), process);
}

bool OpenContext::has_left(std::uint32_t process) const noexcept {
  return std::find(left.begin(), left.end(), process) != left.end();
}

void ContextTable::open(std::uint32_t context, std::vector<std::uint32_t> members) {
  OpenContext open{context, std::move(members), {}, {}};
  std::sort(open.members.begin(), open.members.end());
  open.left.reserve(open.members.size());
  closed_.reserve(closed_.size() + open_.size() + 1);
  open_.reserve(open_.size() + 1);
  std::erase_if(early_, [&](const Departure& departure) {
    if (departure.context != context) return false;
    if (open.has_member(departure.process)) open.left.push_back(departure.process);
    return true;
  });
  open_.insert(std::lower_bound(open_.begin(), open_.end(), context, comes_before), std::move(open));
}

void ContextTable::close(std::uint32_t context) noexcept {
  const auto open = std::lower_bound(open_.begin(), open_.end(), context, comes_before);
  if (open == open_.end() || open->context != context) return;
  open_.erase(open);
  const auto after =
      std::find_if(closed_.begin(), closed_.end(), [&](const Range& range) { return range.first > context; });
  const bool joins_before = after != closed_.begin() && std::prev(after)->last + 1 == context;
  const bool joins_after = after != closed_.end() && context + 1 == after->first;
  if (joins_before && joins_after) {
    std::prev(after)->last = after->last;
    closed_.erase(after);
  } else if (joins_before) {
    std::prev(after)->last = context;
  } else if (joins_after) {
    after->first = context;
  } else {
    closed_.insert(after, {context, context});
  }
}

const OpenContext* ContextTable::find_open(std::uint32_t context) const noexcept {
  const auto open = std::lower_bound(open_.begin(), open_.end(), context, comes_before);
  return open == open_.end() || open->context != context ? nullptr : &*open;
}

bool ContextTable::is_closed(std::uint32_t context) const noexcept {
  const auto after =
      std::lower_bound(closed_.begin(), closed_.end(), context,
                       [](const Range& range, std::uint32_t number) { return range.last < number; });
  return after != closed_.end() && after->first <= context;
}

bool ContextTable::note_departure(std::uint32_t context, std::uint32_t process) {
  if (is_closed(context)) return true;
  if (OpenContext* open = find(context); open != nullptr) {
    if (open->has_member(process) && !open->has_left(process)) open->left.push_back(process);
    return true;
  }
  std::size_t of_process = 0;
  for (const Departure& departure : early_) {
    if (departure.process != process) continue;
    if (departure.context == context) return true;
    ++of_process;
  }
  if (of_process >= max_told_departures) return false;
  early_.push_back({context, process});
  return true;
}

}  // namespace parley::transport
