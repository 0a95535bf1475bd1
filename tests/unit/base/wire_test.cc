#include "transport/base/wire.h"

#include <gtest/gtest.h>

#include <random>

namespace parley::base {
namespace {

enum class Kind : std::uint16_t { a = 0x0102 };

Bytes sample() {
  return WireWriter()
      .put(std::uint8_t{7})
      .put(std::uint32_t{0x01020304})
      .put(std::int64_t{-2})
      .put(Kind::a)
      .put_string("hello")
      .put_bytes({})
      .bytes();
}

// Reads a sample as far as it goes; whether all of it was there.
bool read_sample(std::span<const std::byte> bytes) {
  WireReader reader(bytes);
  const auto a = reader.get<std::uint8_t>();
  const auto b = reader.get<std::uint32_t>();
  const auto c = reader.get<std::int64_t>();
  const auto d = reader.get<Kind>();
  const auto e = reader.get_string();
  const auto f = reader.get_bytes();
  const bool all = a && b && c && d && e && f;
  EXPECT_TRUE(all || !reader.finished());
  return all;
}

TEST(Wire, ReadsBackWhatWasWritten) {
  const Bytes bytes = sample();
  WireReader reader(bytes);
  EXPECT_EQ(reader.get<std::uint8_t>(), std::uint8_t{7});
  EXPECT_EQ(reader.get<std::uint32_t>(), 0x01020304u);
  EXPECT_EQ(reader.get<std::int64_t>(), -2);
  EXPECT_EQ(reader.get<Kind>(), Kind::a);
  EXPECT_FALSE(reader.finished());
  EXPECT_EQ(reader.get_string(), "hello");
  const auto empty = reader.get_bytes();
  ASSERT_TRUE(empty.has_value());
  EXPECT_TRUE(empty->empty());
  EXPECT_TRUE(reader.finished());
}

TEST(Wire, IsLittleEndian) {
  const Bytes bytes = WireWriter().put(std::uint32_t{0x01020304}).put_string("ab").bytes();
  const std::vector<std::uint8_t> expected = {4, 3, 2, 1, 2, 0, 0, 0, 'a', 'b'};
  ASSERT_EQ(bytes.size(), expected.size());
  for (std::size_t i = 0; i < bytes.size(); ++i)
    EXPECT_EQ(std::to_integer<std::uint8_t>(bytes[i]), expected[i]);
}

TEST(Wire, EveryTruncationIsNoticed) {
  const Bytes bytes = sample();
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    // A copy of exactly this length, so that AddressSanitizer sees a read beyond it.
    const Bytes cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length));
    EXPECT_FALSE(read_sample(cut)) << length;
  }
  EXPECT_TRUE(read_sample(bytes));
}

TEST(Wire, AfterAFailureNothingIsRead) {
  const Bytes bytes = WireWriter().put(std::uint8_t{1}).put(std::uint8_t{2}).bytes();
  WireReader reader(bytes);
  EXPECT_FALSE(reader.get<std::uint32_t>().has_value());
  EXPECT_FALSE(reader.get<std::uint8_t>().has_value());
  EXPECT_FALSE(reader.finished());
}

TEST(Wire, ALengthBeyondTheInputIsRefused) {
  const Bytes bytes = WireWriter().put(std::uint32_t{0xffffffff}).put(std::uint8_t{1}).bytes();
  EXPECT_FALSE(WireReader(bytes).get_bytes().has_value());
  EXPECT_FALSE(WireReader(bytes).get_string().has_value());
}

TEST(Wire, RandomBytesAreReadWithinBounds) {
  constexpr unsigned seed = 7;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 2000; ++round) {
    Bytes bytes(random() % 64);
    for (auto& byte : bytes) byte = static_cast<std::byte>(random() % (round % 2 == 0 ? 256 : 4));
    WireReader reader(bytes);
    std::size_t taken = 0;
    while (!reader.finished() && taken <= bytes.size()) {
      if (random() % 2 == 0) {
        if (!reader.get<std::uint8_t>()) break;
        taken += 1;
      } else {
        const auto part = reader.get_bytes();
        if (!part) break;
        taken += sizeof(std::uint32_t) + part->size();
      }
    }
    EXPECT_LE(taken, bytes.size());
  }
}

}  // namespace
}  // namespace parley::base
