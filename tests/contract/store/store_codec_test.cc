#include "rendezvous/store_codec.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <random>
#include <string>

#include "rendezvous/store_text.h"

namespace parley::rendezvous {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;

Store::Value bytes(std::string_view text) {
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

Frame read_frame(std::span<const std::byte> input) {
  FrameReader reader(std::size_t{1} << 20);
  Frame frame;
  EXPECT_EQ(reader.step(input, frame), FrameReader::Step::frame);
  EXPECT_TRUE(input.empty());
  return frame;
}

TEST(StoreCodec, ARequestSurvives) {
  const auto expected = bytes("old");
  const auto desired = bytes("");
  const auto wire = encode_request(77, {.command = Command::compare_set,
                                        .keys = {"key"},
                                        .values = {expected, desired},
                                        .delta = -5,
                                        .timeout = 3s});
  const Frame frame = read_frame(wire);
  EXPECT_EQ(frame.id, 77U);
  const auto request = decode_request(frame);
  ASSERT_TRUE(request);
  EXPECT_EQ(request->command, Command::compare_set);
  EXPECT_EQ(request->keys, std::vector<std::string_view>{"key"});
  ASSERT_EQ(request->values.size(), 2U);
  EXPECT_EQ(Store::Value(request->values[0].begin(), request->values[0].end()), expected);
  EXPECT_TRUE(request->values[1].empty());
  EXPECT_EQ(request->delta, -5);
  EXPECT_EQ(request->timeout, 3s);
}

TEST(StoreCodec, AReplySurvivesAndMustFitItsRequest) {
  const Request get{.command = Command::multi_get, .keys = {"a", "b"}};
  const Frame ok = read_frame(encode_reply(1, {.values = {bytes("1"), bytes("")}}));
  const auto reply = decode_reply(ok, get);
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->values, (std::vector{bytes("1"), bytes("")}));
  EXPECT_FALSE(decode_reply(ok, {.command = Command::get, .keys = {"a"}}));
  EXPECT_FALSE(decode_reply(ok, {.command = Command::add, .keys = {"a"}}));

  const auto late =
      decode_reply(read_frame(encode_reply(2, {.status = ReplyStatus::timed_out, .missing = {1}})), get);
  ASSERT_TRUE(late);
  EXPECT_EQ(late->status, ReplyStatus::timed_out);
  EXPECT_EQ(late->missing, std::vector<std::uint32_t>{1});

  const auto failed =
      decode_reply(read_frame(encode_reply(3, {.status = ReplyStatus::failed, .text = "why"})), get);
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->text, "why");
}

TEST(StoreCodec, FramesMayBeCutAnywhere) {
  base::Bytes stream;
  for (std::uint64_t id = 1; id <= 20; ++id) {
    const auto wire = encode_reply(id, {.values = {Store::Value(id * 7, std::byte{1})}});
    stream.insert(stream.end(), wire.begin(), wire.end());
  }
  for (std::size_t piece = 1; piece < 100; ++piece) {
    FrameReader reader(1000);
    std::uint64_t frames = 0;
    Frame frame;
    for (std::size_t at = 0; at < stream.size(); at += piece) {
      auto input = std::span<const std::byte>(stream).subspan(at, std::min(piece, stream.size() - at));
      while (reader.step(input, frame) == FrameReader::Step::frame) EXPECT_EQ(frame.id, ++frames);
      EXPECT_TRUE(input.empty());
    }
    EXPECT_EQ(frames, 20U);
  }
}

TEST(StoreCodec, AnAnnouncedLengthCostsNothing) {
  base::WireWriter header;
  header.put(std::uint32_t{1000}).put(protocol_version).put(std::uint8_t{1}).put(std::uint8_t{0});
  header.put(std::uint64_t{1});
  std::span<const std::byte> input = header.bytes();
  Frame frame;
  EXPECT_EQ(FrameReader(1000).step(input, frame), FrameReader::Step::more);
  input = header.bytes();
  FrameReader strict(999);
  EXPECT_EQ(strict.step(input, frame), FrameReader::Step::violation);
  EXPECT_EQ(strict.problem(), "a frame of 1000 bytes, the limit is 999");
  EXPECT_EQ(strict.step(input, frame), FrameReader::Step::violation);
}

TEST(StoreCodec, RandomAndDamagedBodiesAreReadOrRefused) {
  const std::uint32_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const auto value = bytes("value");
  const auto good =
      read_frame(encode_request(1, {.command = Command::set, .keys = {"key"}, .values = {value}}));
  for (int round = 0; round < 20000; ++round) {
    Frame frame = good;
    frame.kind = static_cast<std::uint8_t>(random() % 14);
    if (round % 2 == 0) frame.body.resize(random() % 80);
    for (int damage = 0; damage < 3 && !frame.body.empty(); ++damage)
      frame.body[random() % frame.body.size()] = static_cast<std::byte>(random());
    if (const auto request = decode_request(frame)) {
      EXPECT_TRUE(well_formed(*request));
      std::size_t total = 0;
      for (const auto key : request->keys) total += key.size();
      EXPECT_LE(total, frame.body.size());
    }
    const Request get{.command = Command::get, .keys = {"key"}};
    const auto reply = decode_reply(frame, get);
    const bool has_value = reply && reply->status == ReplyStatus::ok;
    EXPECT_TRUE(!has_value || reply->values.size() == 1);
  }
}

TEST(StoreText, DurationsUseTheLargestUnitThatDivides) {
  EXPECT_EQ(duration_text(300ms), "300 ms");
  EXPECT_EQ(duration_text(0s), "0 ms");
  EXPECT_EQ(duration_text(20s), "20 s");
  EXPECT_EQ(duration_text(5min), "5 min");
  EXPECT_EQ(duration_text(90s), "90 s");
  EXPECT_EQ(duration_text(1500us), "1500 us");
  EXPECT_EQ(duration_text(7ns), "7 ns");
  EXPECT_EQ(duration_text(std::chrono::nanoseconds::max()), "no limit");
}

TEST(StoreText, EndpointsOfBothFamilies) {
  EXPECT_EQ(endpoint_text("127.0.0.1", 80), "127.0.0.1:80");
  EXPECT_EQ(endpoint_text("::1", 80), "[::1]:80");
  EXPECT_EQ(endpoint_text("host", 80), "host:80");
}

// The longest body that is allowed, and more keys in it than any memory holds: room is made for what comes.
TEST(StoreFrame, AClaimedLengthAllocatesNothing) {
  const auto in_use = [] { return mallinfo2().uordblks + mallinfo2().hblkhd; };
  const std::size_t before = in_use();
  FrameReader reader(std::size_t{1} << 31);
  base::WireWriter writer;
  writer.put(std::uint32_t{1} << 31)
      .put(protocol_version)
      .put(std::uint8_t{1})
      .put(std::uint8_t{0})
      .put(std::uint64_t{1});
  const base::Bytes header = std::move(writer).bytes();
  std::span<const std::byte> input(header);
  Frame frame;
  EXPECT_EQ(reader.step(input, frame), FrameReader::Step::more);
  EXPECT_LE(in_use(), before + 4096);

  base::WireWriter body;
  body.put(std::int64_t{0}).put(std::int64_t{0}).put(UINT32_MAX).put(UINT32_MAX).put(UINT32_MAX);
  EXPECT_FALSE(decode_request({.kind = 6, .id = 1, .body = std::move(body).bytes()}));
  EXPECT_LE(in_use(), before + 8192);
}

}  // namespace
}  // namespace parley::rendezvous
