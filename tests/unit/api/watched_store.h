#pragma once

#include <parley/error.h>
#include <parley/store.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace parley {

// Counts what is asked of a store, and can fall silent as a store does whose host is stopped.
// Thread-safety: safe.
class WatchedStore final : public Store {
 public:
  explicit WatchedStore(std::shared_ptr<Store> inner) : inner_(std::move(inner)) {}

  using Keys = std::vector<std::string>;
  using Look = std::function<void(const std::string& name, const Keys& keys)>;

  [[nodiscard]] const std::shared_ptr<Store>& inner() const noexcept { return inner_; }

  // Called with each call before it is passed on; what it throws, the call does. Set it before the store is
  // shared.
  void on_call(Look look) { look_ = std::move(look); }
  // From the first call of that name on no call is answered.
  void fall_silent_at(const std::string& name) { silent_at_ = name; }
  int calls_of(const std::string& name) const {
    const std::lock_guard lock(mutex_);
    const auto found = calls_.find(name);
    return found == calls_.end() ? 0 : found->second;
  }
  int calls() const {
    const std::lock_guard lock(mutex_);
    int all = 0;
    for (const auto& [name, times] : calls_) all += times;
    return all;
  }
  // Beyond that which made it silent.
  int calls_after_silence() const {
    const std::lock_guard lock(mutex_);
    return unanswered_ - 1;
  }

  void set(std::string_view key, std::span<const std::byte> value, Timeout timeout) override {
    count("set", {std::string(key)});
    inner_->set(key, value, timeout);
  }
  Value get(std::string_view key, Timeout timeout) override {
    count("get", {std::string(key)});
    return inner_->get(key, timeout);
  }
  std::int64_t add(std::string_view key, std::int64_t delta, Timeout timeout) override {
    count("add", {std::string(key)});
    return inner_->add(key, delta, timeout);
  }
  Value compare_set(std::string_view key, std::span<const std::byte> expected,
                    std::span<const std::byte> desired, Timeout timeout) override {
    count("compare_set", {std::string(key)});
    return inner_->compare_set(key, expected, desired, timeout);
  }
  std::size_t append(std::string_view key, std::span<const std::byte> value, Timeout timeout) override {
    count("append", {std::string(key)});
    return inner_->append(key, value, timeout);
  }
  bool check(std::span<const std::string> keys, Timeout timeout) override {
    count("check", {keys.begin(), keys.end()});
    return inner_->check(keys, timeout);
  }
  void wait(std::span<const std::string> keys, Timeout timeout) override {
    count("wait", {keys.begin(), keys.end()}, timeout);
    inner_->wait(keys, timeout);
  }
  bool remove(std::string_view key, Timeout timeout) override {
    count("remove", {std::string(key)});
    return inner_->remove(key, timeout);
  }
  std::vector<Value> multi_get(std::span<const std::string> keys, Timeout timeout) override {
    count("multi_get", {keys.begin(), keys.end()});
    return inner_->multi_get(keys, timeout);
  }
  void multi_set(std::span<const std::string> keys, std::span<const Value> values, Timeout timeout) override {
    count("multi_set", {keys.begin(), keys.end()});
    inner_->multi_set(keys, values, timeout);
  }
  std::size_t key_count(std::string_view prefix, Timeout timeout) override {
    count("key_count", {std::string(prefix)});
    return inner_->key_count(prefix, timeout);
  }

 private:
  void count(const std::string& name, Keys keys, Timeout timeout = Timeout::zero()) {
    bool answered = true;
    {
      const std::lock_guard lock(mutex_);
      ++calls_[name];
      if (unanswered_ > 0 || name == silent_at_) ++unanswered_;
      answered = unanswered_ == 0;
    }
    if (look_) look_(name, keys);
    if (answered) return;
    std::this_thread::sleep_for(timeout);
    ErrorDetails details;
    details.keys = std::move(keys);
    throw StoreTimeoutError("no answer from the store", details);
  }

  const std::shared_ptr<Store> inner_;
  std::string silent_at_;
  Look look_;
  mutable std::mutex mutex_;
  std::map<std::string, int> calls_;
  int unanswered_ = 0;
};

}  // namespace parley
