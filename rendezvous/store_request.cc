#include "rendezvous/store_request.h"

#include "transport/base/log.h"

namespace parley::rendezvous {
namespace {

std::string too_large(std::string_view what, std::size_t bytes, std::size_t limit) {
  return base::concat(what, " has ", bytes, " bytes, the limit is ", limit);
}

}  // namespace

const char* to_string(Command command) noexcept {
  switch (command) {
    case Command::set: return "store set";
    case Command::get: return "store get";
    case Command::add: return "store add";
    case Command::compare_set: return "store compare_set";
    case Command::check: return "store check";
    case Command::wait: return "store wait";
    case Command::remove: return "store remove";
    case Command::multi_get: return "store multi_get";
    case Command::multi_set: return "store multi_set";
    case Command::append: return "store append";
    case Command::key_count: return "store key_count";
  }
  return "store";
}

bool well_formed(const Request& request) noexcept {
  const std::size_t keys = request.keys.size();
  const std::size_t values = request.values.size();
  switch (request.command) {
    case Command::set:
    case Command::append: return keys == 1 && values == 1;
    case Command::compare_set: return keys == 1 && values == 2;
    case Command::get:
    case Command::add:
    case Command::key_count:
    case Command::remove: return keys == 1 && values == 0;
    case Command::check:
    case Command::wait:
    case Command::multi_get: return values == 0;
    case Command::multi_set: return keys == values;
  }
  return false;
}

bool changes(Command command) noexcept {
  switch (command) {
    case Command::set:
    case Command::add:
    case Command::compare_set:
    case Command::remove:
    case Command::multi_set:
    case Command::append: return true;
    case Command::get:
    case Command::check:
    case Command::wait:
    case Command::multi_get:
    case Command::key_count: return false;
  }
  return false;
}

bool may_wait(Command command) noexcept {
  return command == Command::get || command == Command::multi_get || command == Command::wait;
}

std::optional<std::string> oversize(const Request& request, const TableLimits& limits) {
  constexpr std::size_t length_bytes = 4;  // what the wire adds to each
  if (request.keys.size() > limits.keys)
    return base::concat("the request has ", request.keys.size(), " keys, the limit is ", limits.keys);
  std::size_t total = 0;
  for (const auto key : request.keys) {
    if (key.size() > limits.key_bytes) return too_large("the key", key.size(), limits.key_bytes);
    total += key.size() + length_bytes;
  }
  for (const auto value : request.values) {
    if (value.size() > limits.value_bytes) return too_large("the value", value.size(), limits.value_bytes);
    total += value.size() + length_bytes;
  }
  if (total > limits.operation_bytes) return too_large("the request", total, limits.operation_bytes);
  return std::nullopt;
}

}  // namespace parley::rendezvous
