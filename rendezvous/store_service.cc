#include "rendezvous/store_service.h"

#include <new>
#include <string>
#include <utility>

#include "transport/base/log.h"

namespace parley::rendezvous {
namespace {

using Table = StoreTable;

Reply failed(std::string text) {
  return {.status = ReplyStatus::failed, .text = std::move(text)};
}

Reply set(Table& table, const Request& request) {
  std::vector<Table::Entry> entries;
  entries.reserve(request.keys.size());
  for (std::size_t i = 0; i < request.keys.size(); ++i)
    entries.push_back({request.keys[i], request.values[i]});
  const auto done = table.set(entries);
  return done ? Reply{} : failed(done.failure().message);
}

Reply add(Table& table, const Request& request) {
  const auto sum = table.add(request.keys[0], request.delta);
  return sum ? Reply{.number = sum.value()} : failed(sum.failure().message);
}

Reply compare_set(Table& table, const Request& request) {
  const auto now = table.compare_set(request.keys[0], request.values[0], request.values[1]);
  if (!now) return failed(now.failure().message);
  Reply reply;
  reply.values.push_back(now.value() == nullptr ? Store::Value() : *now.value());
  return reply;
}

Reply append(Table& table, const Request& request) {
  const auto size = table.append(request.keys[0], request.values[0]);
  return size ? Reply{.number = static_cast<std::int64_t>(size.value())} : failed(size.failure().message);
}

Reply check(const Table& table, const Request& request) {
  for (const auto key : request.keys)
    if (table.find(key) == nullptr) return {.number = 0};
  return {.number = 1};
}

// What a get, multi_get or wait ends with. REQUIRES: all keys exist.
template <typename Key>
Reply collect(const Table& table, std::span<const Key> keys, bool with_values) try {
  if (!with_values) return {};
  std::size_t total = 0;
  for (const Key& key : keys) total += table.find(key)->size() + 4;
  if (total > table.limits().operation_bytes)
    return failed(base::concat("the values have ", total, " bytes together, the limit is ",
                               table.limits().operation_bytes));
  Reply reply;
  reply.values.reserve(keys.size());
  for (const Key& key : keys) reply.values.push_back(*table.find(key));
  return reply;
} catch (const std::bad_alloc&) {
  return failed("out of memory");
}

Reply conclude(const Table& table, const Table::WaitResult& result, bool with_values) try {
  if (!result.satisfied) return {.status = ReplyStatus::timed_out, .missing = result.missing};
  return collect(table, result.keys, with_values);
} catch (const std::bad_alloc&) {
  return failed("out of memory");
}

Table::WaitId wait(Table& table, const Request& request, base::Deadline deadline, ReplyHandler handler) {
  const bool with_values = request.command != Command::wait;
  // What is there already is answered from the request itself, without a copy of its keys.
  if (table.has_all(request.keys)) {
    handler(Table::no_wait, collect(table, std::span<const std::string_view>(request.keys), with_values));
    return Table::no_wait;
  }
  auto ended = [&table, with_values, handler](const Table::WaitResult& result) {
    handler(result.id, conclude(table, result, with_values));
  };
  const auto id = table.wait(request.keys, deadline, std::move(ended));
  if (id) return id.value();
  handler(Table::no_wait, failed(id.failure().message));
  return Table::no_wait;
}

Reply answer(Table& table, const Request& request) {
  switch (request.command) {
    case Command::set:
    case Command::multi_set: return set(table, request);
    case Command::add: return add(table, request);
    case Command::compare_set: return compare_set(table, request);
    case Command::append: return append(table, request);
    case Command::check: return check(table, request);
    case Command::key_count: return {.number = static_cast<std::int64_t>(table.key_count(request.keys[0]))};
    case Command::remove: return {.number = table.remove(request.keys[0]) ? 1 : 0};
    case Command::get:
    case Command::multi_get:
    case Command::wait: break;  // execute() has sent them elsewhere
  }
  return failed("unknown command");
}

}  // namespace

Table::WaitId execute(Table& table, const Request& request, base::Deadline deadline, ReplyHandler handler) {
  if (auto text = oversize(request, table.limits())) {
    handler(Table::no_wait, failed(*std::move(text)));
    return Table::no_wait;
  }
  if (may_wait(request.command)) return wait(table, request, deadline, std::move(handler));
  handler(Table::no_wait, answer(table, request));
  return Table::no_wait;
}

}  // namespace parley::rendezvous
