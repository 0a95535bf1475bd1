#include <parley/error.h>
#include <parley/store.h>

#include <algorithm>
#include <atomic>

#include "rendezvous/memory_store.h"
#include "rendezvous/store_limits.h"
#include "transport/base/log.h"

namespace parley {
namespace {

constexpr Store::Timeout initial_timeout = std::chrono::minutes(5);

}  // namespace

struct Store::Settings {
  std::atomic<Timeout::rep> timeout_ns{initial_timeout.count()};
};

Store::Store() : settings_(std::make_unique<Settings>()) {}
Store::~Store() = default;

// relaxed: the number stands for itself, nothing is published with it.
void Store::set_timeout(Timeout timeout) noexcept {
  const Timeout kept = timeout == default_timeout ? initial_timeout : std::max(timeout, Timeout::zero());
  settings_->timeout_ns.store(kept.count(), std::memory_order_relaxed);
}

Store::Timeout Store::timeout() const noexcept {
  return Timeout(settings_->timeout_ns.load(std::memory_order_relaxed));
}

Store::Timeout Store::effective(Timeout asked) const noexcept {
  return asked == default_timeout ? timeout() : std::max(asked, Timeout::zero());
}

void Store::set_string(std::string_view key, std::string_view text, Timeout timeout) {
  set(key, std::as_bytes(std::span(text)), timeout);
}

std::string Store::get_string(std::string_view key, Timeout timeout) {
  const Value value = get(key, timeout);
  return {reinterpret_cast<const char*>(value.data()), value.size()};
}

std::shared_ptr<Store> make_memory_store(const StoreLimits& limits) {
  return rendezvous::make_memory_store(rendezvous::table_limits(limits));
}

}  // namespace parley

namespace parley::rendezvous {

TableLimits table_limits(const StoreLimits& limits) {
  const auto check = [](const char* what, std::size_t bytes, std::size_t most) {
    if (bytes < 1 || bytes > most)
      throw UsageError(base::concat("StoreLimits::", what, " must be 1 to ", most, ", not ", bytes));
  };
  check("key_bytes", limits.key_bytes, largest_limits.key_bytes);
  check("value_bytes", limits.value_bytes, largest_limits.value_bytes);
  constexpr std::size_t room_for_keys = std::size_t{64} << 10;
  TableLimits all;
  static_cast<StoreLimits&>(all) = limits;
  all.operation_bytes = std::max(all.operation_bytes, 2 * limits.value_bytes + room_for_keys);
  all.output_bytes = std::max(all.output_bytes, all.operation_bytes);
  return all;
}

}  // namespace parley::rendezvous
