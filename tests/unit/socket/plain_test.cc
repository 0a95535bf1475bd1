#include <parley/error.h>

#include "tests/unit/socket/exchange.h"
#include "tests/unit/socket/meeting.h"

// Builds without OpenSSL: nothing is proved, so nothing but loopback is touched.
namespace parley::socket::testing {
namespace {

using Plain = Meeting;

// 192.0.2.1 is set aside for documentation; no packet leaves for it.
const std::string elsewhere = "192.0.2.1";

TEST_F(Plain, LoopbackWorksWithAnySecretAndStillKeepsJobsApart) {
  const auto listener = listen();
  auto socket = dial_now({"127.0.0.1", listener->port()}, from_1_to_2(), credentials_of("another secret"));
  EXPECT_TRUE(socket.ok()) << socket.failure().message;
  auto other_job = dial_now({"127.0.0.1", listener->port()}, from_1_to_2(), credentials_of("", 9));
  EXPECT_FALSE(other_job.ok());
}

TEST_F(Plain, ListeningElsewhereIsAnErrorThatNamesTheBuildOption) {
  auto options = process_2();
  options.host = elsewhere;
  try {
    listen(options);
    FAIL() << "accepted";
  } catch (const SystemError& error) {
    EXPECT_NE(std::string(error.what()).find("PARLEY_WITH_OPENSSL=OFF"), std::string::npos) << error.what();
  }
}

TEST_F(Plain, DiallingElsewhereIsRefusedAtOnce) {
  auto socket = dial_now(elsewhere, 4242, base::Deadline::never());
  ASSERT_FALSE(socket.ok());
  EXPECT_EQ(socket.failure().status.code(), base::Code::refused);
  EXPECT_NE(socket.failure().message.find("PARLEY_WITH_OPENSSL=OFF"), std::string::npos);
}

TEST_F(Plain, EncryptionIsRefusedInSoManyWords) {
  auto credentials = right();
  credentials.encrypt = true;
  try {
    const Listener listener(*reactor_, process_2(), credentials, collect());
    FAIL() << "accepted";
  } catch (const SystemError& error) {
    EXPECT_NE(std::string(error.what()).find("no OpenSSL"), std::string::npos) << error.what();
  }
}

TEST_F(Plain, APartnerWithOpensslIsRefused) {
  ListenerHandshake listener({Purpose::data, 2}, key_of(""), nonce_of(2));
  const auto refusal =
      listener.take_hello(encode(Hello{.to = 2, .key_id = {std::byte{1}}, .job = job_of(1)}));
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->reason, Reason::other_key);
  EXPECT_NE(explain(*refusal).find("listener was built without OpenSSL"), std::string::npos)
      << explain(*refusal);
}

}  // namespace
}  // namespace parley::socket::testing
