#include "rendezvous/store_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace parley::rendezvous {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;

std::span<const std::byte> view_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

// A table whose waits report under a name.
class StoreTableTest : public testing::Test {
 protected:
  void set(std::string_view key, std::string_view value = "x") {
    const StoreTable::Entry entry{key, view_of(value)};
    ASSERT_TRUE(table_.set({&entry, 1}).ok());
  }
  StoreTable::WaitId wait(const std::string& name, const std::vector<std::string>& keys,
                          base::Deadline deadline = base::Deadline::never()) {
    auto ended = [this, name](const StoreTable::WaitResult& result) {
      auto line = name + (result.satisfied ? "" : " misses");
      for (const auto index : result.missing) line += " " + result.keys[index];
      ended_.push_back(line);
    };
    const auto id = table_.wait(std::vector<std::string_view>(keys.begin(), keys.end()), deadline, ended);
    EXPECT_TRUE(id.ok());
    return id.value();
  }
  // What ended since the last call.
  std::vector<std::string> ended() { return std::exchange(ended_, {}); }

  StoreTable table_{TableLimits{}};
  std::vector<std::string> ended_;
};

using Names = std::vector<std::string>;

TEST_F(StoreTableTest, AWaitForWhatIsThereEndsAtOnce) {
  set("a");
  EXPECT_EQ(wait("one", {"a"}), StoreTable::no_wait);
  EXPECT_EQ(wait("none", {}), StoreTable::no_wait);
  EXPECT_EQ(ended(), (Names{"one", "none"}));
}

TEST_F(StoreTableTest, WaitsOfOneKeyEndInTheirOrder) {
  wait("first", {"a"});
  wait("second", {"a"});
  wait("other", {"b"});
  set("a");
  EXPECT_EQ(ended(), (Names{"first", "second"}));
  EXPECT_EQ(table_.wait_count(), 1U);
}

TEST_F(StoreTableTest, AWaitEndsOnceWhenItsLastKeyComesInAnyOrder) {
  Names keys{"a", "b", "c", "d"};
  do {
    StoreTable table{TableLimits{}};
    int ends = 0;
    ASSERT_TRUE(
        table.wait(std::vector<std::string_view>{"a", "b", "c", "d"}, base::Deadline::never(),
                   [&](const StoreTable::WaitResult& result) { ends += result.satisfied ? 1 : 100; }));
    for (const auto& key : keys) {
      EXPECT_EQ(ends, 0);
      const StoreTable::Entry entry{key, {}};
      ASSERT_TRUE(table.set({&entry, 1}));
    }
    EXPECT_EQ(ends, 1);
    EXPECT_EQ(table.wait_count(), 0U);
  } while (std::ranges::next_permutation(keys).found);
}

TEST_F(StoreTableTest, ACancelledWaitDoesNotEnd) {
  const auto id = wait("one", {"a"}, base::Deadline::at(StoreTable::TimePoint(1s)));
  table_.cancel(id);
  table_.cancel(id);
  table_.cancel(12345);
  set("a");
  table_.expire(StoreTable::TimePoint(2s));
  EXPECT_EQ(ended(), Names{});
  EXPECT_TRUE(table_.next_deadline().is_never());
}

TEST_F(StoreTableTest, AHandlerMayCancelAWaitThatIsAboutToEnd) {
  StoreTable::WaitId victim = StoreTable::no_wait;
  ASSERT_TRUE(table_.wait(std::vector<std::string_view>{"a"}, base::Deadline::never(),
                          [&](const StoreTable::WaitResult&) { table_.cancel(victim); }));
  victim = wait("victim", {"a"});
  wait("bystander", {"a"});
  set("a");
  EXPECT_EQ(ended(), Names{"bystander"});
  EXPECT_EQ(table_.wait_count(), 0U);
}

TEST_F(StoreTableTest, ExpiryNamesWhatIsMissingThen) {
  wait("late", {"a", "b"}, base::Deadline::at(StoreTable::TimePoint(3s)));
  wait("early", {"a", "b", "c"}, base::Deadline::at(StoreTable::TimePoint(2s)));
  set("b");
  EXPECT_EQ(table_.next_deadline().when(), StoreTable::TimePoint(2s));
  table_.expire(StoreTable::TimePoint(1999ms));
  EXPECT_EQ(ended(), Names{});
  table_.expire(StoreTable::TimePoint(2s));
  EXPECT_EQ(ended(), Names{"early misses a c"});
  EXPECT_EQ(table_.next_deadline().when(), StoreTable::TimePoint(3s));
  set("a");
  EXPECT_EQ(ended(), Names{"late"});
  EXPECT_TRUE(table_.next_deadline().is_never());
}

TEST_F(StoreTableTest, BytesAreCounted) {
  set("key", "12345");
  EXPECT_EQ(table_.bytes(), 8U);
  set("key", "1");
  EXPECT_EQ(table_.bytes(), 4U);
  ASSERT_TRUE(table_.compare_set("key", view_of("1"), view_of("123")));
  EXPECT_EQ(table_.bytes(), 6U);
  ASSERT_TRUE(table_.add("n", 10));
  EXPECT_EQ(table_.bytes(), 9U);
  table_.remove("key");
  table_.remove("key");
  EXPECT_EQ(table_.bytes(), 3U);
  EXPECT_EQ(table_.key_count(), 1U);
}

}  // namespace
}  // namespace parley::rendezvous
