#include <parley/store.h>

#include <algorithm>
#include <atomic>

#include "rendezvous/memory_store.h"

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

std::shared_ptr<Store> make_memory_store() {
  return rendezvous::make_memory_store({});
}

}  // namespace parley
