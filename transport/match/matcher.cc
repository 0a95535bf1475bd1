#include "transport/match/matcher.h"

#include <algorithm>
#include <cassert>

namespace parley::transport {
namespace {

// The oldest element of `list` that `wanted` accepts, or nullptr.
template <typename List, typename Wanted>
auto first_of(List& list, const Wanted& wanted) noexcept -> decltype(list.front()) {
  for (auto* item = list.front(); item != nullptr; item = list.next(*item))
    if (wanted(*item)) return item;
  return nullptr;
}

// Puts `item` where its serial number belongs. What comes back is old as a rule, so the walk begins in front.
template <typename List, typename Item>
void insert_by_serial(List& list, Item& item) noexcept {
  auto* younger = first_of(list, [&](const Item& other) { return other.serial > item.serial; });
  if (younger != nullptr)
    list.insert_before(*younger, item);
  else
    list.push_back(item);
}

}  // namespace

Matcher::Matcher(std::size_t bucket_count)
    : mask_(bucket_count - 1), exact_(bucket_count), sources_(bucket_count) {
  assert(bucket_count != 0 && (bucket_count & mask_) == 0);
}

Matcher::SourceList& Matcher::source_bucket(std::uint32_t context, std::uint32_t source) noexcept {
  return sources_[hash_of(context, source, 0) & mask_];
}

// The list in which `receive` waits.
Matcher::PostedList& Matcher::home_of(const PostedReceive& receive) noexcept {
  if (!receive.pattern.is_exact()) return wildcards_;
  return exact_bucket(receive.pattern).posted;
}

// The older one of `exact`, which may be null, and of what fits among the wildcards.
PostedReceive* Matcher::match_wildcard(const Envelope& envelope, PostedReceive* exact) noexcept {
  PostedReceive* wild =
      first_of(wildcards_, [&](const PostedReceive& receive) { return receive.pattern.accepts(envelope); });
  return wild != nullptr && (exact == nullptr || wild->serial < exact->serial) ? wild : exact;
}

void Matcher::keep(Arrival& arrival) noexcept {
  arrival.serial = ++last_kept_;
  exact_bucket(arrival.envelope).arrivals.push_back(arrival);
  source_bucket(arrival.envelope.context, arrival.envelope.source).push_back(arrival);
  order_.push_back(arrival);
}

Arrival* Matcher::post_wildcard(PostedReceive& receive) noexcept {
  if (Arrival* arrival = find(receive.pattern); arrival != nullptr) {
    take(*arrival);
    return arrival;
  }
  wildcards_.push_back(receive);
  return nullptr;
}

Arrival* Matcher::find(const Pattern& pattern) noexcept {
  const auto accepted = [&](const Arrival& arrival) { return pattern.accepts(arrival.envelope); };
  if (pattern.is_exact()) return first_of(exact_bucket(pattern).arrivals, accepted);
  if (pattern.source != any_source) return first_of(source_bucket(pattern.context, pattern.source), accepted);
  return first_of(order_, accepted);
}

void Matcher::take(Arrival& arrival) noexcept {
  BucketList::remove(arrival);
  SourceList::remove(arrival);
  OrderList::remove(arrival);
}

PostedReceive* Matcher::put_back(Arrival& arrival) noexcept {
  assert(arrival.serial != 0);
  if (PostedReceive* receive = match_arrival(arrival.envelope); receive != nullptr) return receive;
  insert_by_serial(exact_bucket(arrival.envelope).arrivals, arrival);
  insert_by_serial(source_bucket(arrival.envelope.context, arrival.envelope.source), arrival);
  insert_by_serial(order_, arrival);
  return nullptr;
}

void Matcher::unpost(PostedReceive& receive) noexcept {
  PostedList::remove(receive);
}

Arrival* Matcher::repost(PostedReceive& receive) noexcept {
  assert(receive.serial != 0);
  if (Arrival* arrival = find(receive.pattern); arrival != nullptr) {
    take(*arrival);
    return arrival;
  }
  insert_by_serial(home_of(receive), receive);
  return nullptr;
}

void Matcher::visit_posted(const std::function<void(const PostedReceive&)>& visit) {
  std::vector<const PostedReceive*> waiting;
  const auto gather = [&](PostedList& list) {
    for (PostedReceive* item = list.front(); item != nullptr; item = list.next(*item))
      waiting.push_back(item);
  };
  for (ExactBucket& bucket : exact_) gather(bucket.posted);
  gather(wildcards_);
  std::sort(waiting.begin(), waiting.end(),
            [](const PostedReceive* a, const PostedReceive* b) { return a->serial < b->serial; });
  for (const PostedReceive* receive : waiting) visit(*receive);
}

bool Matcher::is_posted(const PostedReceive& receive) const noexcept {
  return PostedList::is_linked(receive);
}

}  // namespace parley::transport
