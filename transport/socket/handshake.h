#pragma once

#include <memory>
#include <optional>

#include "transport/socket/handshake_messages.h"
#include "transport/socket/refusal.h"
#include "transport/socket/secure_stream.h"

// Both ends of the handshake as state machines without I/O: bytes in, bytes or a refusal out.
//
// H1 Before it has checked the dialler's proof the listener sends nothing derived from the key but its id: 32
// bits
//    of the secret, by which whoever connects and says HELLO can test guesses of the secret at leisure.
// H2 Both proofs cover every byte that was sent before them in either direction.
// H3 The roles' labels differ, so that no message of one end is a valid message of the other.
namespace parley::socket {

// Call order: hello(), take_challenge(), proof(), take_welcome().
class DiallerHandshake {
 public:
  DiallerHandshake(const Identity& identity, std::shared_ptr<const JobKey> key, const Nonce& nonce);

  [[nodiscard]] const HelloBytes& hello() const noexcept { return hello_; }
  // Nothing: send proof(). Otherwise the handshake is over.
  [[nodiscard]] std::optional<Refusal> take_challenge(const ChallengeBytes& challenge);
  [[nodiscard]] const ProofBytes& proof() const noexcept { return proof_; }
  // Nothing: the connection is authenticated both ways. Otherwise the handshake is over.
  [[nodiscard]] std::optional<Refusal> take_welcome(const WelcomeBytes& welcome);
  // What TLS begins with. REQUIRES: take_welcome() returned nothing and both ends encrypt.
  [[nodiscard]] std::optional<SharedKey> shared_key() const;
  [[nodiscard]] bool encrypts() const noexcept { return key_->encrypts(); }
  [[nodiscard]] Refusal refusal(Reason reason) const;

 private:
  std::shared_ptr<const JobKey> key_;
  Identity identity_;
  HelloBytes hello_{};
  ChallengeBytes challenge_{};
  ProofBytes proof_{};
  WelcomeBytes welcome_{};
  Facts listener_;  // what it has told so far
};

// What a listener is to those who dial it.
struct Service {
  Purpose purpose = Purpose::data;
  ProcessNumber self = any_process;
};

// Call order: take_hello(), challenge(), take_proof(), welcome().
class ListenerHandshake {
 public:
  ListenerHandshake(const Service& service, std::shared_ptr<const JobKey> key, const Nonce& nonce);

  // Nothing: send challenge(). A refusal: send challenge() if answers(refusal), then close.
  [[nodiscard]] std::optional<Refusal> take_hello(const HelloBytes& hello);
  [[nodiscard]] const ChallengeBytes& challenge() const noexcept { return challenge_; }
  // Nothing: the connection is authenticated; send welcome(). A refusal: send welcome(), then close.
  [[nodiscard]] std::optional<Refusal> take_proof(const ProofBytes& proof);
  [[nodiscard]] const WelcomeBytes& welcome() const noexcept { return welcome_; }
  // As the dialler's.
  [[nodiscard]] std::optional<SharedKey> shared_key() const;
  [[nodiscard]] bool encrypts() const noexcept { return key_->encrypts(); }
  [[nodiscard]] Facts own_facts() const;
  // Who the dialler is. REQUIRES: take_proof() returned nothing.
  [[nodiscard]] Identity identity() const noexcept;

  // What does not speak the protocol gets no answer.
  [[nodiscard]] static bool answers(const Refusal& refusal) noexcept {
    return refusal.reason != Reason::not_parley;
  }

 private:
  Reason judge_hello() const noexcept;
  Reason judge_identity() const noexcept;

  std::shared_ptr<const JobKey> key_;
  Service service_;
  Nonce nonce_;
  Hello told_;  // decoded from hello_
  HelloBytes hello_{};
  ChallengeBytes challenge_{};
  ProofBytes proof_{};
  WelcomeBytes welcome_{};
};

}  // namespace parley::socket
