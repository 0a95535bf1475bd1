#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "transport/base/intrusive_list.h"

namespace parley::transport {

// Wildcards of a pattern. Real sources and tags are never these.
inline constexpr std::uint32_t any_source = 0xffffffff;
inline constexpr std::int64_t any_tag = -1;

// What a message is addressed by. `source` is a number of the layer above.
struct Envelope {
  std::uint32_t context = 0;
  std::uint32_t source = 0;
  std::int64_t tag = 0;
  std::uint64_t note = 0;  // travels along; not matched
};

// What a receive asks for.
struct Pattern {
  std::uint32_t context = 0;
  std::uint32_t source = 0;  // or any_source
  std::int64_t tag = 0;      // or any_tag
  [[nodiscard]] bool is_exact() const noexcept { return source != any_source && tag != any_tag; }
  [[nodiscard]] bool accepts(const Envelope& envelope) const noexcept {
    return context == envelope.context && (source == any_source || source == envelope.source) &&
           (tag == any_tag || tag == envelope.tag);
  }
  // As accepts(), of an exact pattern.
  [[nodiscard]] bool is(const Envelope& envelope) const noexcept {
    return context == envelope.context && source == envelope.source && tag == envelope.tag;
  }
};

struct PostedTag;
struct BucketTag;
struct SourceTag;
struct OrderTag;

// A receive that waits for its message. Embedded in the receive's request.
struct PostedReceive : base::ListHook<PostedTag> {
  Pattern pattern;
  std::uint64_t serial = 0;  // posting order; 0: never posted
};

// A message that waits for its receive. In three lists at once: same envelope, same source, all.
struct Arrival : base::ListHook<BucketTag>, base::ListHook<SourceTag>, base::ListHook<OrderTag> {
  Envelope envelope;
  std::uint64_t serial = 0;  // arrival order; 0: never kept
};

// Pairs messages with receives by MPI's rules: a receive takes the oldest message it accepts, a message goes
// to the oldest receive that accepts it, exact or wildcard; so messages of one source in one context never
// overtake each other. A pure data structure: no I/O, no clock, no allocation after construction.
//
// Invariants: (1) no kept message is accepted by a posted receive; (2) a message or receive is in this
// structure or in its caller's hands, never both; (3) every list is in serial order.
// Thread-safety: none. Cost: O(1) expected while no wildcard is posted and buckets are not overloaded.
class Matcher {
 public:
  // `bucket_count` is a power of two.
  explicit Matcher(std::size_t bucket_count = 1024);

  Matcher(const Matcher&) = delete;
  Matcher& operator=(const Matcher&) = delete;

  // A message came: removes and returns the receive it belongs to, or nullptr (then call keep()).
  PostedReceive* match_arrival(const Envelope& envelope) noexcept;
  void keep(Arrival& arrival) noexcept;

  // A receive came: removes and returns the message it gets, or keeps the receive and returns nullptr.
  // Either way the receive gets its serial number here.
  Arrival* post(PostedReceive& receive) noexcept;

  // The oldest kept message that `pattern` accepts; it stays.
  [[nodiscard]] Arrival* find(const Pattern& pattern) noexcept;
  // Takes a kept message out.
  void take(Arrival& arrival) noexcept;
  // Puts a taken message back in its old place. If a receive posted meanwhile accepts it, that receive is
  // removed and returned instead, and the message stays with the caller. REQUIRES: it was kept before.
  PostedReceive* put_back(Arrival& arrival) noexcept;

  // Takes a posted receive out (cancel, deadline).
  void unpost(PostedReceive& receive) noexcept;
  // Puts a receive back whose message was revoked, in its old place. If a kept message fits, it is removed
  // and returned instead, and the receive stays with the caller. REQUIRES: it was posted before.
  Arrival* repost(PostedReceive& receive) noexcept;

  // The kept messages, oldest first; nullptr at the end.
  [[nodiscard]] Arrival* oldest_arrival() noexcept { return order_.front(); }
  [[nodiscard]] Arrival* next_arrival(Arrival& arrival) noexcept { return order_.next(arrival); }
  // Visits the posted receives, oldest first. The visitor must not change the matcher. Sorts, and so
  // allocates.
  void visit_posted(const std::function<void(const PostedReceive&)>& visit);

  [[nodiscard]] bool is_posted(const PostedReceive& receive) const noexcept;

 private:
  using PostedList = base::IntrusiveList<PostedReceive, PostedTag>;
  using BucketList = base::IntrusiveList<Arrival, BucketTag>;
  using SourceList = base::IntrusiveList<Arrival, SourceTag>;
  using OrderList = base::IntrusiveList<Arrival, OrderTag>;

  // What has one hash of (context, source, tag). Both lists are looked at for one message: keep them
  // together.
  struct ExactBucket {
    PostedList posted;
    BucketList arrivals;
  };

  static std::size_t hash_of(std::uint32_t context, std::uint32_t source, std::int64_t tag) noexcept;
  ExactBucket& exact_bucket(std::uint32_t context, std::uint32_t source, std::int64_t tag) noexcept;
  ExactBucket& exact_bucket(const Envelope& envelope) noexcept;
  ExactBucket& exact_bucket(const Pattern& exact) noexcept;
  SourceList& source_bucket(std::uint32_t context, std::uint32_t source) noexcept;
  PostedList& home_of(const PostedReceive& receive) noexcept;
  PostedReceive* match_wildcard(const Envelope& envelope, PostedReceive* exact) noexcept;
  Arrival* post_wildcard(PostedReceive& receive) noexcept;

  std::size_t mask_;
  std::vector<ExactBucket> exact_;   // by (context, source, tag)
  std::vector<SourceList> sources_;  // by (context, source)
  PostedList wildcards_;
  OrderList order_;
  std::uint64_t last_posted_ = 0;
  std::uint64_t last_kept_ = 0;
};

// The usual course of a message is inline: a posted receive and its message name the same exact envelope.

// Multiplication spreads each key upwards; the bits above the middle, which depend on all below them, choose
// the bucket. The two products do not wait for each other.
inline std::size_t Matcher::hash_of(std::uint32_t context, std::uint32_t source, std::int64_t tag) noexcept {
  const std::uint64_t pair = (static_cast<std::uint64_t>(context) << 32) | source;
  return static_cast<std::size_t>(
      (pair * 0x9e3779b97f4a7c15ULL + static_cast<std::uint64_t>(tag) * 0xc2b2ae3d27d4eb4fULL) >> 32);
}

inline Matcher::ExactBucket& Matcher::exact_bucket(std::uint32_t context, std::uint32_t source,
                                                   std::int64_t tag) noexcept {
  return exact_[hash_of(context, source, tag) & mask_];
}

inline Matcher::ExactBucket& Matcher::exact_bucket(const Envelope& envelope) noexcept {
  return exact_bucket(envelope.context, envelope.source, envelope.tag);
}

inline Matcher::ExactBucket& Matcher::exact_bucket(const Pattern& exact) noexcept {
  return exact_bucket(exact.context, exact.source, exact.tag);
}

inline PostedReceive* Matcher::match_arrival(const Envelope& envelope) noexcept {
  PostedList& posted = exact_bucket(envelope).posted;
  PostedReceive* oldest = posted.front();
  while (oldest != nullptr && !oldest->pattern.is(envelope)) oldest = posted.next(*oldest);
  if (!wildcards_.empty()) [[unlikely]]
    oldest = match_wildcard(envelope, oldest);
  if (oldest != nullptr) PostedList::remove(*oldest);
  return oldest;
}

inline Arrival* Matcher::post(PostedReceive& receive) noexcept {
  receive.serial = ++last_posted_;
  if (!receive.pattern.is_exact()) [[unlikely]]
    return post_wildcard(receive);
  ExactBucket& bucket = exact_bucket(receive.pattern);  // its list and that of its messages are found at once
  Arrival* arrival = bucket.arrivals.front();
  while (arrival != nullptr && !receive.pattern.is(arrival->envelope))
    arrival = bucket.arrivals.next(*arrival);
  arrival != nullptr ? take(*arrival) : bucket.posted.push_back(receive);
  return arrival;
}

}  // namespace parley::transport
