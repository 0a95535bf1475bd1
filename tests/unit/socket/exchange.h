#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "transport/socket/handshake.h"

namespace parley::socket::testing {

inline const std::string right_secret = "correct horse battery staple";
inline const Identity from_1_to_2{Purpose::data, 1, 2};

inline JobId job_of(std::uint8_t number) {
  JobId job{};
  job.back() = std::byte{number};
  return job;
}

inline Credentials credentials_of(const std::string& secret, std::uint8_t job = 1) {
  Credentials credentials;
  credentials.secret = secret;
  credentials.job = job_of(job);
  return credentials;
}

inline std::shared_ptr<const JobKey> key_of(const std::string& secret, std::uint8_t job = 1) {
  auto key = JobKey::make(credentials_of(secret, job));
  EXPECT_TRUE(key.ok());
  return key.value();
}

inline Nonce nonce_of(std::uint8_t seed) {
  Nonce nonce{};
  for (std::size_t i = 0; i < nonce.size(); ++i) nonce[i] = static_cast<std::byte>(seed * 37 + i);
  return nonce;
}

// Everything that travels in one handshake, recorded.
struct Transcript {
  HelloBytes hello{};
  ChallengeBytes challenge{};
  ProofBytes proof{};
  WelcomeBytes welcome{};
};

// How one handshake ended on either side.
struct Outcome {
  Transcript sent;
  std::optional<Refusal> dialler, listener;
  bool dialler_in = false, listener_in = false;  // accepted the other side
};

// Changes messages on the way: the transcript's fields are what the receiver will get.
using Tamper = std::function<void(int message, Transcript&)>;

// Runs both ends against each other, as the I/O around them does.
inline Outcome run(DiallerHandshake dialler, ListenerHandshake listener, const Tamper& tamper = {}) {
  Outcome out;
  const auto pass = [&](int message) {
    if (tamper) tamper(message, out.sent);
  };
  out.sent.hello = dialler.hello();
  pass(0);
  out.listener = listener.take_hello(out.sent.hello);
  if (out.listener && !ListenerHandshake::answers(*out.listener)) return out;
  out.sent.challenge = listener.challenge();
  pass(1);
  out.dialler = dialler.take_challenge(out.sent.challenge);
  if (out.dialler || out.listener) return out;
  out.sent.proof = dialler.proof();
  pass(2);
  out.listener = listener.take_proof(out.sent.proof);
  out.listener_in = !out.listener;
  out.sent.welcome = listener.welcome();
  pass(3);
  out.dialler = dialler.take_welcome(out.sent.welcome);
  out.dialler_in = !out.dialler;
  return out;
}

}  // namespace parley::socket::testing
