#include "rendezvous/prefix_store.h"

#include <parley/error.h>

#include <utility>
#include <vector>

#include "rendezvous/request_store.h"

namespace parley::rendezvous {
namespace {

class PrefixStore final : public Store {
 public:
  PrefixStore(std::shared_ptr<Store> inner, const std::string& prefix)
      : inner_(std::move(inner)), prefix_(prefix + '/') {
    set_timeout(inner_->timeout());
  }
  [[nodiscard]] const Store& inner() const noexcept { return *inner_; }

  void set(std::string_view key, std::span<const std::byte> value, Timeout timeout) override {
    inner_->set(full(key), value, effective(timeout));
  }
  Value get(std::string_view key, Timeout timeout) override {
    return inner_->get(full(key), effective(timeout));
  }
  std::int64_t add(std::string_view key, std::int64_t delta, Timeout timeout) override {
    return inner_->add(full(key), delta, effective(timeout));
  }
  Value compare_set(std::string_view key, std::span<const std::byte> expected,
                    std::span<const std::byte> desired, Timeout timeout) override {
    return inner_->compare_set(full(key), expected, desired, effective(timeout));
  }
  std::size_t append(std::string_view key, std::span<const std::byte> value, Timeout timeout) override {
    return inner_->append(full(key), value, effective(timeout));
  }
  bool check(std::span<const std::string> keys, Timeout timeout) override {
    return inner_->check(full(keys), effective(timeout));
  }
  void wait(std::span<const std::string> keys, Timeout timeout) override {
    inner_->wait(full(keys), effective(timeout));
  }
  bool remove(std::string_view key, Timeout timeout) override {
    return inner_->remove(full(key), effective(timeout));
  }
  std::vector<Value> multi_get(std::span<const std::string> keys, Timeout timeout) override {
    return inner_->multi_get(full(keys), effective(timeout));
  }
  void multi_set(std::span<const std::string> keys, std::span<const Value> values, Timeout timeout) override {
    inner_->multi_set(full(keys), values, effective(timeout));
  }
  std::size_t key_count(std::string_view prefix, Timeout timeout) override {
    return inner_->key_count(full(prefix), effective(timeout));
  }

 private:
  [[nodiscard]] std::string full(std::string_view key) const {
    std::string text = prefix_;
    text += key;
    return text;
  }
  [[nodiscard]] std::vector<std::string> full(std::span<const std::string> keys) const {
    std::vector<std::string> texts;
    texts.reserve(keys.size());
    for (const auto& key : keys) texts.push_back(prefix_ + key);
    return texts;
  }

  const std::shared_ptr<Store> inner_;
  const std::string prefix_;
};

}  // namespace

std::optional<std::string> keeper_of(const Store& store) {
  if (const auto* part = dynamic_cast<const PrefixStore*>(&store)) return keeper_of(part->inner());
  if (const auto* own = dynamic_cast<const RequestStore*>(&store)) return own->keeper();
  return std::nullopt;
}

}  // namespace parley::rendezvous

namespace parley {

std::shared_ptr<Store> make_prefix_store(std::shared_ptr<Store> store, std::string prefix) {
  if (store == nullptr) throw UsageError("make_prefix_store() needs a store");
  return std::make_shared<rendezvous::PrefixStore>(std::move(store), prefix);
}

}  // namespace parley
