#include "transport/base/intrusive_list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <random>
#include <vector>

namespace parley::base {
namespace {

struct ByAge {};
struct ByName {};
struct Item : ListHook<ByAge>, ListHook<ByName> {
  int value = 0;
};
using AgeList = IntrusiveList<Item, ByAge>;
using NameList = IntrusiveList<Item, ByName>;

template <typename List>
std::vector<int> values(List& list) {
  std::vector<int> result;
  for (Item* item = list.front(); item != nullptr; item = list.next(*item)) result.push_back(item->value);
  return result;
}

TEST(IntrusiveList, IsEmptyAtFirst) {
  AgeList list;
  EXPECT_TRUE(list.empty());
  EXPECT_EQ(list.front(), nullptr);
  EXPECT_EQ(list.back(), nullptr);
  EXPECT_EQ(list.pop_front(), nullptr);
}

TEST(IntrusiveList, KeepsTheOrderOfInsertion) {
  std::array<Item, 4> items;
  for (int i = 0; i < 4; ++i) items[static_cast<std::size_t>(i)].value = i;
  AgeList list;
  list.push_back(items[1]);
  list.push_back(items[3]);
  list.push_front(items[0]);
  list.insert_before(items[3], items[2]);
  EXPECT_EQ(values(list), (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(list.front(), &items[0]);
  EXPECT_EQ(list.back(), &items[3]);
}

TEST(IntrusiveList, RemoveUnlinksFromAnywhere) {
  std::array<Item, 4> items;
  AgeList list;
  for (int i = 0; i < 4; ++i) {
    items[static_cast<std::size_t>(i)].value = i;
    list.push_back(items[static_cast<std::size_t>(i)]);
  }
  AgeList::remove(items[2]);
  EXPECT_FALSE(AgeList::is_linked(items[2]));
  EXPECT_TRUE(AgeList::is_linked(items[1]));
  EXPECT_EQ(values(list), (std::vector<int>{0, 1, 3}));
  AgeList::remove(items[3]);
  EXPECT_EQ(list.back(), &items[1]);
  EXPECT_EQ(list.pop_front(), &items[0]);
  EXPECT_EQ(list.pop_front(), &items[1]);
  EXPECT_TRUE(list.empty());
}

TEST(IntrusiveList, TagsAreIndependent) {
  Item item;
  AgeList ages;
  NameList names;
  ages.push_back(item);
  names.push_back(item);
  AgeList::remove(item);
  EXPECT_TRUE(ages.empty());
  EXPECT_EQ(names.front(), &item);
  EXPECT_TRUE(NameList::is_linked(item));
}

TEST(IntrusiveList, AgreesWithADequeOnRandomPrograms) {
  constexpr unsigned seed = 20240611;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  std::vector<Item> items(50);
  for (std::size_t i = 0; i < items.size(); ++i) items[i].value = static_cast<int>(i);
  AgeList list;
  std::deque<int> model;
  for (int step = 0; step < 5000; ++step) {
    Item& item = items[random() % items.size()];
    if (AgeList::is_linked(item)) {
      AgeList::remove(item);
      model.erase(std::find(model.begin(), model.end(), item.value));
    } else if (random() % 2 == 0 || model.empty()) {
      list.push_back(item);
      model.push_back(item.value);
    } else {
      const auto at = random() % model.size();
      list.insert_before(items[static_cast<std::size_t>(model[at])], item);
      model.insert(model.begin() + static_cast<std::ptrdiff_t>(at), item.value);
    }
    ASSERT_EQ(values(list), std::vector<int>(model.begin(), model.end())) << "step " << step;
  }
}

}  // namespace
}  // namespace parley::base
