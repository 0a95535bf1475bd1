#include "rendezvous/request_store.h"

#include <parley/error.h>

#include <utility>

#include "rendezvous/store_text.h"
#include "transport/base/deadline.h"
#include "transport/base/log.h"

namespace parley::rendezvous {
namespace {

std::vector<std::string_view> views(std::span<const std::string> keys) {
  return {keys.begin(), keys.end()};
}

// What the errors of one call have in common.
struct Context {
  const Request& request;
  const char* operation;
  base::Clock::time_point begin;
  std::string host;

  [[nodiscard]] ErrorDetails details(std::span<const std::string_view> keys) const {
    ErrorDetails details;
    details.operation = operation;
    details.host = host;
    details.keys.assign(keys.begin(), keys.end());
    details.elapsed = base::Clock::now() - begin;
    return details;
  }
  [[nodiscard]] std::string sentence(const std::string& reason) const {
    auto text = base::concat(operation, ": ", reason);
    if (!request.keys.empty())
      text += base::concat(request.keys.size() == 1 ? ", key: " : ", keys: ", keys_text(request.keys));
    return text;
  }
};

[[noreturn]] void throw_no_answer(const Context& context, const base::Failure& failure) {
  const auto text = context.sentence(failure.message);
  if (failure.status.code() == base::Code::timed_out)
    throw StoreTimeoutError(text, context.details(context.request.keys));
  throw StoreLostError(text, context.details(context.request.keys));
}

[[noreturn]] void throw_timed_out(const Context& context, const Reply& reply) {
  std::vector<std::string_view> missing;
  for (const std::uint32_t index : reply.missing)
    if (index < context.request.keys.size()) missing.push_back(context.request.keys[index]);
  throw StoreTimeoutError(
      timed_out_text(context.operation, context.request.timeout, missing, context.request.keys.size()),
      context.details(missing));
}

}  // namespace

Reply RequestStore::perform(Request request, Timeout timeout) {
  request.timeout = effective(timeout);
  const Context context{request, to_string(request.command), base::Clock::now(), host()};
  if (in_forked_child())
    throw ForkedError(
        context.sentence("this process was forked from the one that made the store; make another"),
        context.details(request.keys));
  if (const auto text = oversize(request, limits_))
    throw StoreError(context.sentence(*text), context.details(request.keys));

  auto result = call(request);
  if (!result) throw_no_answer(context, result.failure());
  Reply& reply = result.value();
  if (reply.status == ReplyStatus::timed_out) throw_timed_out(context, reply);
  if (reply.status == ReplyStatus::failed)
    throw StoreError(context.sentence(reply.text), context.details(request.keys));
  return std::move(reply);
}

void RequestStore::set(std::string_view key, std::span<const std::byte> value, Timeout timeout) {
  perform({.command = Command::set, .keys = {key}, .values = {value}}, timeout);
}

Store::Value RequestStore::get(std::string_view key, Timeout timeout) {
  return std::move(perform({.command = Command::get, .keys = {key}}, timeout).values.front());
}

std::int64_t RequestStore::add(std::string_view key, std::int64_t delta, Timeout timeout) {
  return perform({.command = Command::add, .keys = {key}, .delta = delta}, timeout).number;
}

std::size_t RequestStore::append(std::string_view key, std::span<const std::byte> value, Timeout timeout) {
  return static_cast<std::size_t>(
      perform({.command = Command::append, .keys = {key}, .values = {value}}, timeout).number);
}

Store::Value RequestStore::compare_set(std::string_view key, std::span<const std::byte> expected,
                                       std::span<const std::byte> desired, Timeout timeout) {
  Request request{.command = Command::compare_set, .keys = {key}, .values = {expected, desired}};
  return std::move(perform(std::move(request), timeout).values.front());
}

bool RequestStore::check(std::span<const std::string> keys, Timeout timeout) {
  return perform({.command = Command::check, .keys = views(keys)}, timeout).number != 0;
}

void RequestStore::wait(std::span<const std::string> keys, Timeout timeout) {
  perform({.command = Command::wait, .keys = views(keys)}, timeout);
}

bool RequestStore::remove(std::string_view key, Timeout timeout) {
  return perform({.command = Command::remove, .keys = {key}}, timeout).number != 0;
}

std::vector<Store::Value> RequestStore::multi_get(std::span<const std::string> keys, Timeout timeout) {
  return perform({.command = Command::multi_get, .keys = views(keys)}, timeout).values;
}

void RequestStore::multi_set(std::span<const std::string> keys, std::span<const Value> values,
                             Timeout timeout) {
  if (keys.size() != values.size())
    throw UsageError(base::concat("store multi_set: ", keys.size(), " keys but ", values.size(), " values"));
  Request request{.command = Command::multi_set, .keys = views(keys)};
  request.values.assign(values.begin(), values.end());
  perform(std::move(request), timeout);
}

std::size_t RequestStore::key_count(std::string_view prefix, Timeout timeout) {
  return static_cast<std::size_t>(perform({.command = Command::key_count, .keys = {prefix}}, timeout).number);
}

}  // namespace parley::rendezvous
