#pragma once

#include <parley/store.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rendezvous/store_limits.h"

namespace parley::rendezvous {

// What a store can be asked for. The numbers are those of the wire.
enum class Command : std::uint8_t {
  set = 1,
  get,
  add,
  compare_set,
  check,
  wait,
  remove,
  multi_get,
  multi_set,
  append,
  key_count
};

// "store compare_set": the operation's name in errors.
const char* to_string(Command command) noexcept;

// One operation. Owns nothing: keys and values are views of the caller's arguments or of a received frame.
//   set, multi_set   as many values as keys
//   append           one value
//   key_count        one key: the prefix
//   compare_set      values {expected, desired}
//   the others       keys only; `delta` with add
struct Request {
  Command command = Command::get;
  std::vector<std::string_view> keys = {};
  std::vector<std::span<const std::byte>> values = {};
  std::int64_t delta = 0;
  std::chrono::nanoseconds timeout{0};  // get, wait, multi_get: how long the keys may be missing
};

enum class ReplyStatus : std::uint8_t {
  ok,
  failed,     // `text` says why; nothing was changed
  timed_out,  // `missing` holds the indices of the keys that were missing
};

// What came of it.
//   add              `number` is the sum
//   append           `number` is the value's size
//   key_count        `number` of keys
//   check, remove    `number` is 1 for yes
//   get, multi_get   `values`, in the order of the keys
//   compare_set      `values` holds the value that is there now
struct Reply {
  ReplyStatus status = ReplyStatus::ok;
  std::int64_t number = 0;
  std::vector<Store::Value> values = {};
  std::vector<std::uint32_t> missing = {};
  std::string text = {};
};

// Whether keys and values have the number that the command needs.
bool well_formed(const Request& request) noexcept;

// Whether the command may change values.
bool changes(Command command) noexcept;

// Whether the command may wait for keys that are missing; the others are answered at once.
bool may_wait(Command command) noexcept;

// Why the request is too large, in words; nothing when it is not.
std::optional<std::string> oversize(const Request& request, const TableLimits& limits);

}  // namespace parley::rendezvous
