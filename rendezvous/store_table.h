#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "rendezvous/store_limits.h"
#include "transport/base/deadline.h"
#include "transport/base/result.h"

namespace parley::rendezvous {

// The values of a store and the waits for keys that are not there yet. No I/O, no clock, no lock: the same
// table serves the store inside a process and the one behind a socket. Thread-safety: none.
//
// Invariants:
// (1) A wait stands in exactly one list: that of one key it misses (`watched_`), or `ready_`.
// (2) `ready_` is empty whenever no method of the table is running.
// (3) A wait's handler runs at most once, after the wait has left the table; never after cancel().
// A wait watches one missing key at a time, so it costs O(1) in the table however many keys it names.
class StoreTable {
 public:
  using Value = std::vector<std::byte>;
  using TimePoint = base::Clock::time_point;
  using WaitId = std::uint64_t;
  static constexpr WaitId no_wait = 0;

  struct Done {};
  struct Entry {
    std::string_view key;
    std::span<const std::byte> value;
  };
  struct WaitResult {
    WaitId id = no_wait;                 // no_wait when all keys were there at once
    std::span<const std::string> keys;   // as given to wait(); valid during the call
    bool satisfied = false;              // else the deadline passed
    std::vector<std::uint32_t> missing;  // indices of the keys that were missing then
  };
  // Must not throw. May read the table, cancel waits and start new ones; must not change values.
  using WaitHandler = std::function<void(const WaitResult&)>;

  explicit StoreTable(const TableLimits& limits) : limits_(limits) {}
  StoreTable(const StoreTable&) = delete;
  StoreTable& operator=(const StoreTable&) = delete;

  // nullptr when absent. Valid until the next change.
  [[nodiscard]] const Value* find(std::string_view key) const;

  // All entries or none; of two entries with one key the later counts. Fails with `exhausted` when the table
  // is full.
  base::Result<Done> set(std::span<const Entry> entries);
  // The sum. Fails with `invalid_argument` when the value is no number or the sum overflows.
  base::Result<std::int64_t> add(std::string_view key, std::int64_t delta);
  // The value there afterwards, nullptr when the key is absent. An absent key equals the empty value.
  base::Result<const Value*> compare_set(std::string_view key, std::span<const std::byte> expected,
                                         std::span<const std::byte> desired);
  // The value's new size. Fails with `exhausted` when the value or the table would become too large.
  base::Result<std::size_t> append(std::string_view key, std::span<const std::byte> value);
  bool remove(std::string_view key);
  // Forgets all values; the waits stay.
  void clear() noexcept;

  // Whether all of them exist now.
  [[nodiscard]] bool has_all(std::span<const std::string_view> keys) const;
  // Calls `handler` when all keys exist at the same time (perhaps before returning) or when expire() finds
  // the deadline passed. Returns no_wait when the handler has run. Fails with `exhausted` without calling it,
  // and without a copy of the keys.
  base::Result<WaitId> wait(std::span<const std::string_view> keys, base::Deadline deadline,
                            WaitHandler handler);
  // The handler will not run. An unknown id is ignored.
  void cancel(WaitId id);

  // When expire() has something to do.
  [[nodiscard]] base::Deadline next_deadline() const;
  // Ends the waits whose deadline is not after `now`.
  void expire(TimePoint now);

  [[nodiscard]] const TableLimits& limits() const noexcept { return limits_; }
  [[nodiscard]] std::size_t key_count() const noexcept { return values_.size(); }
  // Of the keys that begin with `prefix`.
  [[nodiscard]] std::size_t key_count(std::string_view prefix) const;
  // Shows every key and its value, in the order of the keys.
  void for_each(const std::function<void(const std::string& key, const Value& value)>& show) const;
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::size_t wait_count() const noexcept { return waits_.size(); }

 private:
  struct Wait {
    WaitId id;
    std::vector<std::string> keys;
    std::size_t bytes;    // what it counts against limits_.wait_bytes
    std::size_t watched;  // index of the key whose list it stands in
    bool ready = false;   // stands in ready_ instead
    base::Deadline deadline;
    WaitHandler handler;
  };
  using WaitList = std::list<Wait>;
  using Values = std::map<std::string, Value, std::less<>>;

  [[nodiscard]] std::optional<base::Failure> find_room(std::span<const Entry> entries) const;
  // Index of a missing key, searched from `start` around; nothing when all exist.
  template <typename Key>
  [[nodiscard]] std::optional<std::size_t> find_missing(std::span<const Key> keys, std::size_t start) const;
  [[nodiscard]] std::vector<std::uint32_t> all_missing(std::span<const std::string> keys) const;
  void wake(std::string_view key);
  void run_ready();
  WaitList take(WaitList::iterator wait);

  const TableLimits limits_;
  Values values_;
  std::size_t bytes_ = 0;

  std::map<std::string, WaitList, std::less<>> watched_;
  WaitList ready_;
  std::unordered_map<WaitId, WaitList::iterator> waits_;
  std::set<std::pair<TimePoint, WaitId>> deadlines_;
  std::size_t wait_bytes_ = 0;
  WaitId next_id_ = no_wait + 1;
};

}  // namespace parley::rendezvous
