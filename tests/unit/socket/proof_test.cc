#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/socket/exchange.h"
#include "transport/socket/handshake_roles.h"
#include "transport/socket/random.h"

// What a proof is worth; for builds with OpenSSL.
namespace parley::socket::testing {
namespace {

const Service process_2{Purpose::data, 2};

Outcome meet(const std::string& dialler_secret, const std::string& listener_secret,
             const Tamper& tamper = {}) {
  return run({from_1_to_2, key_of(dialler_secret), nonce_of(1)},
             {process_2, key_of(listener_secret), nonce_of(2)}, tamper);
}

std::string repeat(char c, std::size_t count) {
  return std::string(count, c);
}

// RFC 4231, test case 1: the 20-byte key, filled up with zeros as HMAC itself does.
TEST(Crypto, HmacSha256AsInRfc4231) {
  Key key{};
  std::fill_n(key.begin(), 20, std::byte{0x0b});
  const std::string text = "Hi There";
  const auto mac = authenticate(key, std::as_bytes(std::span(text)));
  ASSERT_TRUE(mac);
  EXPECT_EQ(to_hex(*mac), "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
}

// RFC 5869, test case 3: no salt, no info.
TEST(Crypto, HkdfSha256AsInRfc5869) {
  std::array<std::byte, 42> out{};
  ASSERT_TRUE(derive(repeat('\x0b', 22), "", out));
  EXPECT_EQ(to_hex(out),
            "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8");
}

TEST(Proof, KeyIdTellsSecretsApartAndIsNotPartOfThem) {
  EXPECT_EQ(key_of(right_secret)->id(), key_of(right_secret)->id());
  EXPECT_EQ(key_of(right_secret, 1)->id(), key_of(right_secret, 2)->id());
  EXPECT_NE(key_of(right_secret)->id(), key_of(right_secret + "x")->id());
  const auto text = to_hex(key_of(right_secret)->id());
  EXPECT_EQ(to_hex(std::as_bytes(std::span(right_secret))).find(text), std::string::npos);
}

TEST(Proof, AnEmptySecretIsNoSecret) {
  const auto key = JobKey::make(Credentials{});
  ASSERT_FALSE(key.ok());
  EXPECT_EQ(key.failure().status.code(), base::Code::refused);
  EXPECT_NE(key.failure().message.find("PARLEY_SECRET"), std::string::npos);
}

TEST(Proof, SecretsOfAnyLengthWorkWhenEqual) {
  for (const std::size_t length : {1, 15, 16, 64, 65, 100'000})
    EXPECT_TRUE(meet(repeat('s', length), repeat('s', length)).dialler_in) << length;
}

TEST(Proof, AnotherSecretIsRefusedBeforeAnyProofWithBothKeyIds) {
  const auto outcome = meet("mine", "yours");
  ASSERT_TRUE(outcome.dialler && outcome.listener);
  EXPECT_EQ(outcome.dialler->reason, Reason::other_key);
  EXPECT_EQ(outcome.listener->reason, Reason::other_key);
  EXPECT_EQ(outcome.sent.proof, ProofBytes{});
  const auto text = explain(*outcome.listener);
  EXPECT_EQ(text, explain(*outcome.dialler));
  EXPECT_NE(text.find(to_hex(key_of("mine")->id())), std::string::npos) << text;
  EXPECT_NE(text.find(to_hex(key_of("yours")->id())), std::string::npos) << text;
  EXPECT_NE(text.find("give both the same PARLEY_SECRET"), std::string::npos) << text;
}

TEST(Proof, APartnerBuiltWithoutOpensslIsNamed) {
  const auto hello = encode(Hello{.to = 2, .job = job_of(1)});  // key id zero
  ListenerHandshake listener(process_2, key_of(right_secret), nonce_of(2));
  const auto refusal = listener.take_hello(hello);
  ASSERT_TRUE(refusal);
  EXPECT_NE(explain(*refusal).find("dialler was built without OpenSSL"), std::string::npos)
      << explain(*refusal);
}

// A stranger that claims the right key id learns from its wrong proof only that it is wrong.
TEST(Proof, AWrongProofGetsNoMacAndNoFact) {
  ListenerHandshake listener(process_2, key_of(right_secret), nonce_of(2));
  DiallerHandshake dialler(from_1_to_2, key_of(right_secret), nonce_of(1));
  ASSERT_FALSE(listener.take_hello(dialler.hello()));
  const auto refusal = listener.take_proof(ProofBytes{});
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->reason, Reason::wrong_proof);
  WelcomeBytes nothing{};
  nothing[0] = static_cast<std::byte>(Reason::wrong_proof);
  EXPECT_EQ(listener.welcome(), nothing);

  ASSERT_FALSE(dialler.take_challenge(listener.challenge()));
  const auto told = dialler.take_welcome(listener.welcome());
  ASSERT_TRUE(told);
  EXPECT_EQ(told->reason, Reason::wrong_proof);
}

// Flips each bit of one message, one at a time.
template <typename Bytes>
void expect_every_flip_refused(int number, Bytes Transcript::*message, bool listener_too) {
  for (std::size_t bit = 0; bit < sizeof(Bytes) * 8; ++bit) {
    const auto outcome = meet(right_secret, right_secret, [&](int passing, Transcript& t) {
      if (passing == number) (t.*message)[bit / 8] ^= std::byte{1} << static_cast<int>(bit % 8);
    });
    ASSERT_FALSE(outcome.dialler_in) << "message " << number << " bit " << bit;
    ASSERT_FALSE(listener_too && outcome.listener_in) << "message " << number << " bit " << bit;
  }
}

TEST(Proof, ABitFlippedAnywhereIsRefused) {
  ASSERT_TRUE(meet(right_secret, right_secret).dialler_in);
  expect_every_flip_refused(0, &Transcript::hello, true);
  expect_every_flip_refused(1, &Transcript::challenge, true);
  expect_every_flip_refused(2, &Transcript::proof, true);
  // The listener has accepted by then; the dialler notices and closes.
  expect_every_flip_refused(3, &Transcript::welcome, false);
}

TEST(Proof, ARefusalAfterTheProofCannotBeForgedOrChanged) {
  const auto refuse = [](const Tamper& tamper) {
    return run({from_1_to_2, key_of(right_secret), nonce_of(1)},
               {{Purpose::data, 3}, key_of(right_secret), nonce_of(2)}, tamper);
  };
  ASSERT_EQ(refuse({}).dialler->reason, Reason::wrong_process);
  for (std::size_t byte = 1; byte < sizeof(WelcomeBytes); ++byte) {
    const auto outcome = refuse([&](int passing, Transcript& t) {
      if (passing == 3) t.welcome[byte] ^= std::byte{1};
    });
    ASSERT_TRUE(outcome.dialler);
    ASSERT_NE(outcome.dialler->reason, Reason::wrong_process) << byte;
  }
}

TEST(Proof, AReplayedDiallerIsRefused) {
  const auto recorded = meet(right_secret, right_secret);
  ASSERT_TRUE(recorded.listener_in);
  for (int i = 0; i < 1000; ++i) {
    Nonce fresh;
    ASSERT_TRUE(fill_random(fresh));
    ListenerHandshake listener(process_2, key_of(right_secret), fresh);
    ASSERT_FALSE(listener.take_hello(recorded.sent.hello));
    const auto refusal = listener.take_proof(recorded.sent.proof);
    ASSERT_TRUE(refusal);
    ASSERT_EQ(refusal->reason, Reason::wrong_proof);
  }
}

TEST(Proof, AReplayedListenerIsRefused) {
  const auto recorded = meet(right_secret, right_secret);
  for (int i = 0; i < 1000; ++i) {
    Nonce fresh;
    ASSERT_TRUE(fill_random(fresh));
    DiallerHandshake dialler(from_1_to_2, key_of(right_secret), fresh);
    ASSERT_FALSE(dialler.take_challenge(recorded.sent.challenge));
    const auto refusal = dialler.take_welcome(recorded.sent.welcome);
    ASSERT_TRUE(refusal);
    ASSERT_EQ(refusal->reason, Reason::impostor);
  }
}

TEST(Proof, ADiallersOwnBytesSentBackAreRefused) {
  DiallerHandshake dialler(from_1_to_2, key_of(right_secret), nonce_of(1));
  ChallengeBytes echo{};
  std::copy_n(dialler.hello().begin(), echo.size(), echo.begin());
  const auto at_once = dialler.take_challenge(echo);
  ASSERT_TRUE(at_once);
  EXPECT_EQ(at_once->reason, Reason::not_parley);

  // With a challenge of the attacker's own making, the proof comes back as the welcome.
  const auto challenge = encode(Challenge{.key_id = key_of(right_secret)->id(), .nonce = nonce_of(3)});
  ASSERT_FALSE(dialler.take_challenge(challenge));
  WelcomeBytes welcome{};
  std::copy(dialler.proof().begin(), dialler.proof().end(), welcome.begin() + sizeof(WelcomeFields));
  const auto refusal = dialler.take_welcome(welcome);
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->reason, Reason::impostor);
}

TEST(Proof, TheRolesProofsOverEqualBytesDiffer) {
  const auto key = key_of(right_secret);
  const HelloBytes hello{};
  const ChallengeBytes challenge{};
  const auto dialler = prove_dialler(*key, hello, challenge);
  const auto listener = key->prove("parley1 server", {hello, challenge});
  ASSERT_TRUE(dialler && listener);
  EXPECT_NE(*dialler, *listener);
}

// An attacker between process 1, which dials process 2, and process 3 passes everything on unchanged.
TEST(Proof, AHandshakePassedOnToAnotherProcessIsRefused) {
  const auto outcome = run({from_1_to_2, key_of(right_secret), nonce_of(1)},
                           {{Purpose::data, 3}, key_of(right_secret), nonce_of(2)});
  EXPECT_FALSE(outcome.listener_in);
  EXPECT_FALSE(outcome.dialler_in);
}

TEST(Proof, AListenerWithoutTheSecretIsAnImpostor) {
  const auto outcome = meet(right_secret, right_secret, [](int passing, Transcript& t) {
    if (passing == 3) std::fill(t.welcome.begin() + sizeof(WelcomeFields), t.welcome.end(), std::byte{0});
  });
  ASSERT_TRUE(outcome.dialler);
  EXPECT_EQ(outcome.dialler->reason, Reason::impostor);
}

TEST(Proof, TooManyBytesAreNotProved) {
  const auto key = key_of(right_secret);
  const std::array<std::byte, 250> most{};
  EXPECT_TRUE(key->prove("123456", {most}));
  EXPECT_FALSE(key->prove("1234567", {most}));
  EXPECT_FALSE(key->prove("", {most, most}));
}

}  // namespace
}  // namespace parley::socket::testing
