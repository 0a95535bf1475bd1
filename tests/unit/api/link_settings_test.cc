#include "api/wireup/link_settings.h"

#include <gtest/gtest.h>
#include <parley/error.h>

#include <string>

namespace parley::wireup {
namespace {

std::string allowed_by(std::string_view text) {
  const TransportChoice choice = parse_transports(text);
  return std::string(choice.shm ? "shm " : "") + (choice.tcp ? "tcp" : "") + (choice.cma ? "" : " ^cma");
}

TEST(TransportChoice, FollowsItsGrammar) {
  EXPECT_EQ(allowed_by("tcp"), "tcp");
  EXPECT_EQ(allowed_by("shm"), "shm ");
  EXPECT_EQ(allowed_by("shm,tcp"), "shm tcp");
  EXPECT_EQ(allowed_by("tcp,shm"), "shm tcp");
  EXPECT_EQ(allowed_by("^shm"), "tcp");
  EXPECT_EQ(allowed_by("^tcp"), "shm ");
  EXPECT_EQ(allowed_by("shm,tcp,^shm"), "tcp");
  EXPECT_EQ(allowed_by(""), "shm tcp");
  EXPECT_EQ(allowed_by("shm,^cma"), "shm  ^cma");
  EXPECT_EQ(allowed_by("^cma"), "shm tcp ^cma");
  EXPECT_EQ(allowed_by("tcp,^cma"), "tcp ^cma");
}

TEST(TransportChoice, SaysWhatItDoesNotUnderstand) {
  for (const char* text : {"udp", "shm,", ",shm", "SHM", "^", "shm tcp", "^udp", "cma", "shm,cma"}) {
    try {
      parse_transports(text);
      ADD_FAILURE() << text << " was accepted";
    } catch (const UsageError& error) {
      EXPECT_TRUE(std::string(error.what()).starts_with("PARLEY_TRANSPORTS=" + std::string(text) + ": '"))
          << error.what();
    }
  }
}

TEST(TransportChoice, SomethingMustBeLeft) {
  for (const char* text : {"^shm,^tcp", "shm,^shm"}) EXPECT_THROW(parse_transports(text), UsageError) << text;
}

}  // namespace
}  // namespace parley::wireup
