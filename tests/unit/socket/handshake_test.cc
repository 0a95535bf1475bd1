#include <gtest/gtest.h>

#include "tests/unit/socket/exchange.h"

namespace parley::socket::testing {
namespace {

Outcome meet(const Identity& identity, const Service& service, std::uint8_t dialler_job = 1,
             std::uint8_t listener_job = 1) {
  return run({identity, key_of(right_secret, dialler_job), nonce_of(1)},
             {service, key_of(right_secret, listener_job), nonce_of(2)});
}

void expect_refused_by_both(const Outcome& outcome, Reason reason) {
  ASSERT_TRUE(outcome.dialler && outcome.listener);
  EXPECT_EQ(outcome.dialler->reason, reason);
  EXPECT_EQ(outcome.listener->reason, reason);
  EXPECT_EQ(explain(*outcome.dialler), explain(*outcome.listener));
}

TEST(Handshake, EqualCredentialsMeetAndTheListenerLearnsWhoDials) {
  ListenerHandshake listener({Purpose::data, 2}, key_of(right_secret), nonce_of(2));
  DiallerHandshake dialler(from_1_to_2, key_of(right_secret), nonce_of(1));
  ASSERT_FALSE(listener.take_hello(dialler.hello()));
  ASSERT_FALSE(dialler.take_challenge(listener.challenge()));
  ASSERT_FALSE(listener.take_proof(dialler.proof()));
  ASSERT_FALSE(dialler.take_welcome(listener.welcome()));
  EXPECT_EQ(listener.identity().purpose, Purpose::data);
  EXPECT_EQ(listener.identity().from, 1u);
  EXPECT_EQ(listener.identity().to, 2u);
}

TEST(Handshake, AnyProcessMatchesOnEitherSide) {
  EXPECT_TRUE(meet({Purpose::store, 1, any_process}, {Purpose::store, 7}).dialler_in);
  EXPECT_TRUE(meet({Purpose::store, 1, 3}, {Purpose::store, any_process}).dialler_in);
  EXPECT_TRUE(meet({Purpose::store, any_process, any_process}, {Purpose::store, any_process}).dialler_in);
}

TEST(Handshake, AnotherProcessIsRefusedWithBothNumbers) {
  const auto outcome = meet(from_1_to_2, {Purpose::data, 3});
  expect_refused_by_both(outcome, Reason::wrong_process);
  const auto text = explain(*outcome.dialler);
  EXPECT_NE(text.find("looks for process 2, the listener is process 3"), std::string::npos) << text;
}

TEST(Handshake, AnotherPurposeIsRefused) {
  const auto outcome = meet({Purpose::store, 1, 2}, {Purpose::data, 2});
  expect_refused_by_both(outcome, Reason::wrong_purpose);
  const auto text = explain(*outcome.dialler);
  EXPECT_NE(text.find("looks for the store, this address serves data links"), std::string::npos) << text;
}

TEST(Handshake, AnotherJobIsRefusedWithBothJobs) {
  const auto outcome = meet(from_1_to_2, {Purpose::data, 2}, 0xaa, 0xbb);
  expect_refused_by_both(outcome, Reason::wrong_job);
  const auto text = explain(*outcome.dialler);
  EXPECT_NE(text.find(to_hex(job_of(0xaa))), std::string::npos) << text;
  EXPECT_NE(text.find(to_hex(job_of(0xbb))), std::string::npos) << text;
}

void set_version(HelloBytes& bytes, std::uint8_t version) {
  bytes[magic_bytes] = std::byte{version};
}
void set_version(ChallengeBytes& bytes, std::uint8_t version) {
  bytes[magic_bytes] = std::byte{version};
}

TEST(Handshake, AnOlderOrNewerDiallerIsToldOurVersionAndKeyIdOnly) {
  const auto key = key_of(right_secret);
  for (const std::uint8_t version : std::initializer_list<std::uint8_t>{0, 2, 255}) {
    DiallerHandshake dialler(from_1_to_2, key, nonce_of(1));
    auto hello = dialler.hello();
    set_version(hello, version);
    ListenerHandshake listener({Purpose::data, 2}, key, nonce_of(2));
    const auto refusal = listener.take_hello(hello);
    ASSERT_TRUE(refusal);
    EXPECT_EQ(refusal->reason, Reason::other_version);
    EXPECT_TRUE(ListenerHandshake::answers(*refusal));
    const auto answer = decode_challenge(listener.challenge());
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->version, protocol_version);
    EXPECT_EQ(answer->reason, Reason::other_version);
    EXPECT_EQ(answer->key_id, key->id());
    EXPECT_EQ(answer->nonce, Nonce{});
  }
}

TEST(Handshake, ADiallerRefusesAnotherVersionAndSaysBoth) {
  const auto outcome =
      run({from_1_to_2, key_of(right_secret), nonce_of(1)},
          {{Purpose::data, 2}, key_of(right_secret), nonce_of(2)}, [](int message, Transcript& t) {
            if (message == 1) set_version(t.challenge, 9);
          });
  ASSERT_TRUE(outcome.dialler);
  EXPECT_EQ(outcome.dialler->reason, Reason::other_version);
  const auto text = explain(*outcome.dialler);
  EXPECT_NE(text.find("dialler speaks version 1 of the protocol, the listener version 9"), std::string::npos)
      << text;
}

TEST(Handshake, WhatIsNoHelloGetsNoAnswer) {
  for (const char first : {'G', '\x16', '\0'}) {
    HelloBytes bytes{};
    bytes[0] = static_cast<std::byte>(first);
    ListenerHandshake listener({Purpose::data, 2}, key_of(right_secret), nonce_of(2));
    const auto refusal = listener.take_hello(bytes);
    ASSERT_TRUE(refusal);
    EXPECT_EQ(refusal->reason, Reason::not_parley);
    EXPECT_FALSE(ListenerHandshake::answers(*refusal));
  }
}

TEST(Handshake, OneEndFillsAtMost256BytesBeforeTheProof) {
  EXPECT_LE(sizeof(HelloBytes) + sizeof(ProofBytes), 256u);
}

TEST(HandshakeMessages, DecodeWhatWasEncoded) {
  const Hello hello{.purpose = Purpose::store,
                    .from = 7,
                    .to = 0x01020304,
                    .key_id = {std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}},
                    .job = job_of(9),
                    .nonce = nonce_of(5)};
  const auto back = decode_hello(encode(hello));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->version, protocol_version);
  EXPECT_EQ(back->purpose, hello.purpose);
  EXPECT_EQ(back->from, hello.from);
  EXPECT_EQ(back->to, hello.to);
  EXPECT_EQ(back->key_id, hello.key_id);
  EXPECT_EQ(back->job, hello.job);
  EXPECT_EQ(back->nonce, hello.nonce);
}

// The layout that README.md draws. Other implementations and later versions depend on it.
TEST(HandshakeMessages, LayoutIsFixed) {
  const auto hello = encode(Hello{.purpose = Purpose::data, .from = 1, .to = 2, .nonce = nonce_of(0)});
  EXPECT_EQ(to_hex(std::span(hello).first(24)),
            "895041524c45594801000200"
            "01000000"
            "02000000"
            "00000000");
  const auto challenge = encode(Challenge{.reason = Reason::other_key, .nonce = nonce_of(0)});
  EXPECT_EQ(to_hex(std::span(challenge).first(16)),
            "895041524c455943"
            "0100"
            "02"
            "00"
            "00000000");
  const auto welcome =
      encode(Welcome{.reason = Reason::wrong_process, .purpose = 2, .self = 3, .job = job_of(4)});
  EXPECT_EQ(to_hex(welcome),
            "05020000"
            "03000000"
            "00000000000000000000000000000004");
}

}  // namespace
}  // namespace parley::socket::testing
