#include "rendezvous/store_table.h"

#include <algorithm>
#include <charconv>
#include <iterator>

#include "transport/base/log.h"

namespace parley::rendezvous {
namespace {

base::Failure full(const std::string& what) {
  return {base::Code::exhausted, "the store is full: " + what};
}

std::optional<std::int64_t> parse_number(std::span<const std::byte> value) {
  const auto* begin = reinterpret_cast<const char*>(value.data());
  const auto* end = begin + value.size();
  std::int64_t number = 0;
  const auto [stop, error] = std::from_chars(begin, end, number);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return number;
}

}  // namespace

const StoreTable::Value* StoreTable::find(std::string_view key) const {
  const auto found = values_.find(key);
  return found == values_.end() ? nullptr : &found->second;
}

// Counts an entry that shrinks its value as no gain, and a key named twice as two: simple, and never too
// little.
std::optional<base::Failure> StoreTable::find_room(std::span<const Entry> entries) const {
  std::size_t more_keys = 0;
  std::size_t more_bytes = 0;
  for (const Entry& entry : entries) {
    const Value* old = find(entry.key);
    if (old == nullptr) {
      ++more_keys;
      more_bytes += entry.key.size() + entry.value.size();
    } else if (entry.value.size() > old->size()) {
      more_bytes += entry.value.size() - old->size();
    }
  }
  if (more_keys > limits_.keys - values_.size())
    return full(base::concat(limits_.keys, " keys are its limit"));
  if (more_bytes > limits_.total_bytes - bytes_)
    return full(base::concat(limits_.total_bytes, " bytes are its limit"));
  return std::nullopt;
}

base::Result<StoreTable::Done> StoreTable::set(std::span<const Entry> entries) {
  if (auto failure = find_room(entries)) return *std::move(failure);
  // Everything is allocated before anything is changed.
  Values staged;
  for (const Entry& entry : entries)
    staged.insert_or_assign(std::string(entry.key), Value(entry.value.begin(), entry.value.end()));
  while (!staged.empty()) {
    auto node = staged.extract(staged.begin());
    const auto old = values_.find(node.key());
    bytes_ += node.mapped().size();
    if (old == values_.end()) {
      bytes_ += node.key().size();
      values_.insert(std::move(node));
    } else {
      bytes_ -= old->second.size();
      old->second.swap(node.mapped());
    }
  }
  for (const Entry& entry : entries) wake(entry.key);
  run_ready();
  return Done{};
}

base::Result<std::int64_t> StoreTable::add(std::string_view key, std::int64_t delta) {
  std::int64_t sum = 0;
  if (const Value* old = find(key)) {
    const auto number = parse_number(*old);
    if (!number) return base::Failure{base::Code::invalid_argument, "the value is not a decimal number"};
    sum = *number;
  }
  if (__builtin_add_overflow(sum, delta, &sum))
    return base::Failure{base::Code::invalid_argument, "the sum does not fit in 64 bits"};
  const std::string text = std::to_string(sum);
  const Entry entry{key, std::as_bytes(std::span(text))};
  if (auto done = set({&entry, 1}); !done) return done.failure();
  return sum;
}

base::Result<const StoreTable::Value*> StoreTable::compare_set(std::string_view key,
                                                               std::span<const std::byte> expected,
                                                               std::span<const std::byte> desired) {
  const Value* old = find(key);
  const std::span<const std::byte> present = old == nullptr ? std::span<const std::byte>() : std::span(*old);
  const bool changes_nothing = old == nullptr && desired.empty();
  if (!std::ranges::equal(present, expected) || changes_nothing) return old;
  const Entry entry{key, desired};
  if (auto done = set({&entry, 1}); !done) return done.failure();
  return find(key);
}

base::Result<std::size_t> StoreTable::append(std::string_view key, std::span<const std::byte> value) {
  const auto old = values_.find(key);
  if (old == values_.end()) {
    const Entry entry{key, value};
    if (auto done = set({&entry, 1}); !done) return done.failure();
    return value.size();
  }
  Value& bytes = old->second;
  if (value.size() > limits_.value_bytes || bytes.size() > limits_.value_bytes - value.size())
    return base::Failure{base::Code::exhausted,
                         base::concat("the value would have ", bytes.size() + value.size(),
                                      " bytes, the limit is ", limits_.value_bytes)};
  if (value.size() > limits_.total_bytes - bytes_)
    return full(base::concat(limits_.total_bytes, " bytes are its limit"));
  bytes.insert(bytes.end(), value.begin(), value.end());
  bytes_ += value.size();
  return bytes.size();
}

bool StoreTable::remove(std::string_view key) {
  const auto found = values_.find(key);
  if (found == values_.end()) return false;
  bytes_ -= found->first.size() + found->second.size();
  values_.erase(found);
  return true;
}

void StoreTable::clear() noexcept {
  values_.clear();
  bytes_ = 0;
}

std::size_t StoreTable::key_count(std::string_view prefix) const {
  if (prefix.empty()) return values_.size();
  const auto begin = values_.lower_bound(prefix);
  const auto end = std::find_if_not(begin, values_.end(),
                                    [&](const auto& entry) { return entry.first.starts_with(prefix); });
  return static_cast<std::size_t>(std::distance(begin, end));
}

void StoreTable::for_each(const std::function<void(const std::string&, const Value&)>& show) const {
  for (const auto& [key, value] : values_) show(key, value);
}

template <typename Key>
std::optional<std::size_t> StoreTable::find_missing(std::span<const Key> keys, std::size_t start) const {
  for (std::size_t step = 0; step < keys.size(); ++step) {
    const std::size_t i = (start + step) % keys.size();
    if (find(keys[i]) == nullptr) return i;
  }
  return std::nullopt;
}

std::vector<std::uint32_t> StoreTable::all_missing(std::span<const std::string> keys) const {
  std::vector<std::uint32_t> missing;
  for (std::size_t i = 0; i < keys.size(); ++i)
    if (find(keys[i]) == nullptr) missing.push_back(static_cast<std::uint32_t>(i));
  return missing;
}

bool StoreTable::has_all(std::span<const std::string_view> keys) const {
  return !find_missing(keys, 0);
}

base::Result<StoreTable::WaitId> StoreTable::wait(std::span<const std::string_view> keys,
                                                  base::Deadline deadline, WaitHandler handler) {
  const auto missing = find_missing(keys, 0);
  if (!missing) {
    handler({no_wait, std::vector<std::string>(keys.begin(), keys.end()), true, {}});
    return no_wait;
  }
  std::size_t key_bytes = 0;
  for (const std::string_view key : keys) key_bytes += sizeof(std::string) + key.size();
  if (waits_.size() >= limits_.waits)
    return full(base::concat(limits_.waits, " operations that wait are its limit"));
  if (key_bytes > limits_.wait_bytes - wait_bytes_)
    return full(base::concat("keys waited for may take ", limits_.wait_bytes, " bytes"));

  WaitList node;
  node.push_back(
      {next_id_++, {keys.begin(), keys.end()}, key_bytes, *missing, false, deadline, std::move(handler)});
  const auto wait = node.begin();
  // If one of these cannot allocate, the others' leftovers (an empty list, a deadline of no wait) do no harm.
  WaitList& list = watched_[wait->keys[*missing]];
  if (!deadline.is_never()) deadlines_.emplace(deadline.when(), wait->id);
  waits_.emplace(wait->id, wait);
  wait_bytes_ += key_bytes;
  list.splice(list.end(), node);
  return wait->id;
}

// Moves each wait for this key to the list of another key it misses, or to ready_.
void StoreTable::wake(std::string_view key) {
  const auto entry = watched_.find(key);
  if (entry == watched_.end()) return;
  WaitList& list = entry->second;
  while (!list.empty()) {
    Wait& wait = list.front();
    const auto missing = find_missing(std::span<const std::string>(wait.keys), wait.watched);
    WaitList& target = missing ? watched_[wait.keys[*missing]] : ready_;
    wait.ready = !missing;
    if (missing) wait.watched = *missing;
    target.splice(target.end(), list, list.begin());
  }
  watched_.erase(entry);
}

void StoreTable::run_ready() {
  // Taken one by one from the front: a handler may cancel a wait that stands further behind.
  while (!ready_.empty()) {
    const WaitList node = take(ready_.begin());
    const Wait& wait = node.front();
    wait.handler({wait.id, wait.keys, true, {}});
  }
}

StoreTable::WaitList StoreTable::take(WaitList::iterator wait) {
  WaitList node;
  if (wait->ready) {
    node.splice(node.end(), ready_, wait);
  } else {
    const auto entry = watched_.find(wait->keys[wait->watched]);
    node.splice(node.end(), entry->second, wait);
    if (entry->second.empty()) watched_.erase(entry);
  }
  if (!wait->deadline.is_never()) deadlines_.erase({wait->deadline.when(), wait->id});
  waits_.erase(wait->id);
  wait_bytes_ -= wait->bytes;
  return node;
}

void StoreTable::cancel(WaitId id) {
  const auto found = waits_.find(id);
  if (found != waits_.end()) take(found->second);
}

base::Deadline StoreTable::next_deadline() const {
  return deadlines_.empty() ? base::Deadline::never() : base::Deadline::at(deadlines_.begin()->first);
}

void StoreTable::expire(TimePoint now) {
  while (!deadlines_.empty() && deadlines_.begin()->first <= now) {
    const auto found = waits_.find(deadlines_.begin()->second);
    if (found == waits_.end()) {
      deadlines_.erase(deadlines_.begin());
      continue;
    }
    auto missing = all_missing(found->second->keys);
    const WaitList node = take(found->second);
    const Wait& wait = node.front();
    wait.handler({wait.id, wait.keys, false, std::move(missing)});
  }
}

}  // namespace parley::rendezvous
