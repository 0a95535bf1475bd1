#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "rendezvous/store_table.h"

namespace parley::rendezvous {
namespace {

using namespace std::chrono_literals;

// Takes random steps with a table and beside it with a model that looks at every wait after every step. Each
// wait that ends is one line, "w12" or "w12 misses k1 k3".
class Walk {
 public:
  explicit Walk(std::uint32_t seed) : random_(seed) {}

  void step() {
    ++steps_;
    expected_.clear();
    actual_.clear();
    switch (pick(6)) {
      case 0:
      case 1: set(); break;
      case 2: remove(); break;
      case 3: wait(); break;
      case 4: cancel(); break;
      case 5: pass_time(); break;
    }
    for (const auto& [name, wait] : waits_)
      if (complete(wait)) expected_.push_back(name);
    std::erase_if(waits_, [this](const auto& entry) { return complete(entry.second); });
    std::ranges::sort(expected_);
    std::ranges::sort(actual_);
  }
  void expect_agreement() const {
    EXPECT_EQ(actual_, expected_) << "step " << steps_;
    EXPECT_EQ(table_.wait_count(), waits_.size());
    EXPECT_EQ(table_.key_count(), values_.size());
  }

 private:
  struct Wait {
    StoreTable::WaitId id;
    std::vector<std::string> keys;
    StoreTable::TimePoint deadline;
  };

  std::size_t pick(std::size_t n) { return std::size_t{random_()} % n; }
  std::string pick_key() { return "k" + std::to_string(pick(6)); }
  bool complete(const Wait& wait) const {
    return std::ranges::all_of(wait.keys, [this](const auto& key) { return values_.contains(key); });
  }

  void set() {
    const auto key = pick_key();
    const auto value = std::to_string(steps_);
    values_[key] = value;
    const StoreTable::Entry entry{key, std::as_bytes(std::span(value))};
    ASSERT_TRUE(table_.set({&entry, 1}).ok());
  }
  void remove() {
    const auto key = pick_key();
    EXPECT_EQ(table_.remove(key), values_.erase(key) == 1);
  }
  void wait() {
    const auto name = "w" + std::to_string(steps_);
    Wait wait{.id = 0, .keys = {}, .deadline = now_ + std::chrono::seconds(1 + pick(20))};
    for (std::size_t i = pick(4); i > 0; --i) wait.keys.push_back(pick_key());
    const auto id = table_.wait(std::vector<std::string_view>(wait.keys.begin(), wait.keys.end()),
                                base::Deadline::at(wait.deadline), [this, name](const auto& result) {
                                  auto line = name + (result.satisfied ? "" : " misses");
                                  for (const auto index : result.missing) line += " " + result.keys[index];
                                  actual_.push_back(line);
                                });
    ASSERT_TRUE(id.ok());
    wait.id = id.value();
    EXPECT_EQ(wait.id == StoreTable::no_wait, complete(wait));
    waits_[name] = wait;
  }
  void cancel() {
    if (waits_.empty()) return;
    const auto victim = std::next(waits_.begin(), static_cast<std::ptrdiff_t>(pick(waits_.size())));
    table_.cancel(victim->second.id);
    waits_.erase(victim);
  }
  void pass_time() {
    now_ += 1s;
    for (const auto& [name, wait] : waits_) {
      if (wait.deadline > now_) continue;
      auto line = name + " misses";
      for (const auto& key : wait.keys)
        if (!values_.contains(key)) line += " " + key;
      expected_.push_back(line);
    }
    std::erase_if(waits_, [this](const auto& entry) { return entry.second.deadline <= now_; });
    table_.expire(now_);
  }

  std::mt19937 random_;
  int steps_ = 0;
  StoreTable::TimePoint now_{};
  StoreTable table_{TableLimits{}};
  std::map<std::string, std::string> values_;
  std::map<std::string, Wait> waits_;
  std::vector<std::string> expected_, actual_;
};

TEST(StoreTableModel, RandomStepsAgreeWithASimpleModel) {
  const std::uint32_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Walk walk(seed);
  for (int i = 0; i < 5000 && !testing::Test::HasFailure(); ++i) {
    walk.step();
    walk.expect_agreement();
  }
}

}  // namespace
}  // namespace parley::rendezvous
