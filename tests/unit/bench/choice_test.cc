#include "bench/choice.h"

#include <gtest/gtest.h>

#include <array>

#include "bench/options.h"
#include "tests/unit/bench/mistake.h"

namespace parley::bench {
namespace {

constexpr std::array<std::string_view, 3> fruit = {"apple", "pear", "blood-orange"};

std::string answer(std::string_view word) {
  return mistake_of([&] { choose("fruit", word, fruit); });
}

TEST(Choice, AKnownWordIsItsPlace) {
  EXPECT_EQ(choose("fruit", "apple", fruit), 0U);
  EXPECT_EQ(choose("fruit", "blood-orange", fruit), 2U);
}

TEST(Choice, NamesAreListedAsInASentence) {
  EXPECT_EQ(enumerate(fruit), "apple, pear or blood-orange");
  EXPECT_EQ(enumerate(std::span(fruit).first(2)), "apple or pear");
  EXPECT_EQ(enumerate(std::span(fruit).first(1)), "apple");
}

TEST(Choice, TheNearestNameIsProposed) {
  const std::string known = "there is no fruit ";
  EXPECT_EQ(answer("aple"), known + "'aple': write apple, pear or blood-orange; did you mean apple?");
  EXPECT_EQ(answer("orange"),
            known + "'orange': write apple, pear or blood-orange; did you mean blood-orange?");
  EXPECT_EQ(answer("blood_oranges"),
            known + "'blood_oranges': write apple, pear or blood-orange; did you mean blood-orange?");
}

TEST(Choice, NothingIsProposedWhenNothingIsNear) {
  for (const char* word : {"", "p", "1", "xyz", "computer"}) {
    EXPECT_EQ(answer(word),
              std::string("there is no fruit '") + word + "': write apple, pear or blood-orange");
  }
}

}  // namespace
}  // namespace parley::bench
