#include "transport/base/status.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <set>
#include <string>

namespace parley::base {
namespace {

constexpr int code_count = static_cast<int>(Code::closed) + 1;

TEST(Status, IsOkByDefault) {
  const Status status;
  EXPECT_TRUE(status.ok());
  EXPECT_FALSE(status.failed());
  EXPECT_EQ(status.scope(), Scope::none);
  EXPECT_EQ(status.native(), 0);
}

TEST(Status, FlowControlIsNeitherOkNorFailure) {
  for (const Code code : {Code::in_progress, Code::again}) {
    EXPECT_FALSE(Status(code).ok());
    EXPECT_FALSE(Status(code).failed());
  }
}

TEST(Status, ScopeTellsWhatEnds) {
  EXPECT_EQ(Status(Code::cancelled).scope(), Scope::operation);
  EXPECT_EQ(Status(Code::exhausted).scope(), Scope::operation);
  EXPECT_EQ(Status(Code::peer_died).scope(), Scope::peer);
  EXPECT_EQ(Status(Code::io_error).scope(), Scope::peer);
  EXPECT_EQ(Status(Code::aborted).scope(), Scope::group);
  EXPECT_EQ(Status(Code::closed).scope(), Scope::group);
}

TEST(Status, EveryCodeHasWordsOfItsOwn) {
  std::set<std::string> seen;
  for (int code = 0; code < code_count; ++code) {
    const std::string words = to_string(static_cast<Code>(code));
    EXPECT_NE(words, "unknown") << code;
    EXPECT_TRUE(seen.insert(words).second) << words;
  }
  EXPECT_STREQ(to_string(static_cast<Code>(code_count)), "unknown");
}

TEST(Status, DescribesTheNativeError) {
  EXPECT_EQ(Status(Code::peer_died, ECONNRESET).describe(), "peer died: Connection reset by peer");
  EXPECT_EQ(Status(Code::peer_left).describe(), "peer left");
  EXPECT_EQ(Status(Code::device_failed, 700).describe(), "the device failed: CUDA error 700");
  EXPECT_EQ(Status(Code::device_failed).describe(), "the device failed") << "as a peer has told";
}

TEST(Status, ComparesCodeAndNativeError) {
  EXPECT_EQ(Status(Code::io_error, EIO), Status(Code::io_error, EIO));
  EXPECT_NE(Status(Code::io_error, EIO), Status(Code::io_error, EPIPE));
  EXPECT_NE(Status(Code::io_error), Status(Code::refused));
}

}  // namespace
}  // namespace parley::base
