// How a list of texts travels, from whomever.
#include "api/text_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace parley::detail {
namespace {

using ::testing::HasSubstr;
using Texts = std::vector<std::string>;

// Eight bytes for each number, then the text.
std::vector<std::byte> message_of(const std::vector<std::uint64_t>& numbers, const std::string& text = {}) {
  const auto bytes = std::as_bytes(std::span(numbers));
  std::vector<std::byte> message(bytes.begin(), bytes.end());
  const auto tail = std::as_bytes(std::span(text));
  message.insert(message.end(), tail.begin(), tail.end());
  return message;
}

std::string refusal(const std::vector<std::byte>& message) {
  const auto list = decode_texts(message);
  EXPECT_FALSE(list.ok());
  return list.ok() ? "" : list.failure().message;
}

TEST(TextList, ComesBackAsItWas) {
  for (const Texts& texts : {Texts{}, Texts{""}, Texts{"a", "", "bcd"}, Texts{std::string("\0\xff", 2)}}) {
    const auto message = encode_texts(texts);
    EXPECT_EQ(message.size(), encoded_bytes(texts));
    const auto list = decode_texts(message);
    ASSERT_TRUE(list.ok());
    EXPECT_EQ(list.value(), texts);
  }
}

TEST(TextList, IsNumberSizesAndTexts) {
  EXPECT_EQ(encode_texts(Texts{"ab", "c"}), message_of({2, 2, 1}, "abc"));
}

TEST(TextList, NoNumberIsBelieved) {
  constexpr std::uint64_t huge = std::numeric_limits<std::uint64_t>::max();
  EXPECT_THAT(refusal({}), HasSubstr("too few"));
  EXPECT_THAT(refusal(message_of({huge})), HasSubstr("announces"));
  EXPECT_THAT(refusal(message_of({huge / 8 + 1, 1, 1}, "ab")), HasSubstr("announces"));
  EXPECT_THAT(refusal(message_of({2, 1})), HasSubstr("announces"));
  EXPECT_THAT(refusal(message_of({2, 1, huge}, "ab")), HasSubstr("object 1 has"));
  EXPECT_THAT(refusal(message_of({1, 3}, "ab")), HasSubstr("only 2 are left"));
  EXPECT_THAT(refusal(message_of({1, 1}, "ab")), HasSubstr("1 bytes follow"));
  EXPECT_THAT(refusal(message_of({0}, "a")), HasSubstr("1 bytes follow"));
}

TEST(TextList, NestingIsCountedOutsideOfStrings) {
  EXPECT_EQ(nesting_of("1"), 0);
  EXPECT_EQ(nesting_of("[]"), 1);
  EXPECT_EQ(nesting_of(R"({"a": [1, {"b": 2}], "c": [3]})"), 3);
  EXPECT_EQ(nesting_of(R"("[[[[")"), 0);
  EXPECT_EQ(nesting_of(R"(["\"[[[", "\\"])"), 1);
  EXPECT_EQ(nesting_of("]]]["), 0);
  EXPECT_EQ(nesting_of("\"\\"), 0);
}

}  // namespace
}  // namespace parley::detail
