#include <algorithm>
#include <utility>

#include "transport/socket/handshake.h"
#include "transport/socket/handshake_roles.h"

namespace parley::socket {

DiallerHandshake::DiallerHandshake(const Identity& identity, std::shared_ptr<const JobKey> key,
                                   const Nonce& nonce)
    : key_(std::move(key)), identity_(identity) {
  hello_ = encode(Hello{.purpose = identity.purpose,
                        .encrypt = key_->encrypts(),
                        .from = identity.from,
                        .to = identity.to,
                        .key_id = key_->id(),
                        .job = key_->job(),
                        .nonce = nonce});
}

Refusal DiallerHandshake::refusal(Reason reason) const {
  return {reason,
          {.key_id = key_->id(),
           .purpose = identity_.purpose,
           .process = identity_.to,
           .job = key_->job(),
           .encrypts = key_->encrypts()},
          listener_};
}

std::optional<Refusal> DiallerHandshake::take_challenge(const ChallengeBytes& bytes) {
  const auto challenge = decode_challenge(bytes);
  if (!challenge) return refusal(Reason::not_parley);
  challenge_ = bytes;
  listener_.version = challenge->version;
  listener_.key_id = challenge->key_id;
  if (challenge->version != protocol_version) return refusal(Reason::other_version);
  if (challenge->key_id != key_->id()) return refusal(Reason::other_key);
  // Version and key are equal, so nothing is left that could be refused before the proof.
  if (challenge->reason != Reason::none) return refusal(Reason::not_parley);
  const auto mac = prove_dialler(*key_, hello_, challenge_);
  if (!mac) return refusal(Reason::no_crypto);
  proof_ = *mac;
  return std::nullopt;
}

std::optional<Refusal> DiallerHandshake::take_welcome(const WelcomeBytes& bytes) {
  WelcomeFields fields;
  Mac told;
  std::copy_n(bytes.begin(), fields.size(), fields.begin());
  std::copy_n(bytes.begin() + fields.size(), told.size(), told.begin());
  const auto welcome = decode_welcome(fields);
  if (!welcome) return refusal(Reason::not_parley);
  // A listener that did not accept our proof gives none of its own.
  if (welcome->reason == Reason::wrong_proof) return refusal(Reason::wrong_proof);

  const auto expected = prove_listener(*key_, hello_, challenge_, proof_, fields);
  if (!expected) return refusal(Reason::no_crypto);
  if (!same(*expected, told)) return refusal(Reason::impostor);
  welcome_ = bytes;
  if (welcome->reason == Reason::none) return std::nullopt;
  listener_.encrypts = welcome->encrypt;
  listener_.purpose = static_cast<Purpose>(welcome->purpose);
  listener_.process = welcome->self;
  listener_.job = welcome->job;
  return refusal(welcome->reason);
}

std::optional<SharedKey> DiallerHandshake::shared_key() const {
  return make_shared_key(*key_, identity_, hello_, challenge_, proof_, welcome_);
}

}  // namespace parley::socket
