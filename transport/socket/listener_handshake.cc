#include <algorithm>
#include <utility>

#include "transport/socket/handshake.h"
#include "transport/socket/handshake_roles.h"

namespace parley::socket {

ListenerHandshake::ListenerHandshake(const Service& service, std::shared_ptr<const JobKey> key,
                                     const Nonce& nonce)
    : key_(std::move(key)), service_(service), nonce_(nonce) {}

Facts ListenerHandshake::own_facts() const {
  return {.key_id = key_->id(),
          .purpose = service_.purpose,
          .process = service_.self,
          .job = key_->job(),
          .encrypts = key_->encrypts()};
}

Reason ListenerHandshake::judge_hello() const noexcept {
  if (told_.version != protocol_version) return Reason::other_version;
  return told_.key_id == key_->id() ? Reason::none : Reason::other_key;
}

std::optional<Refusal> ListenerHandshake::take_hello(const HelloBytes& bytes) {
  const auto hello = decode_hello(bytes);
  if (!hello) return Refusal{Reason::not_parley, {}, own_facts()};
  hello_ = bytes;
  told_ = *hello;
  const Reason reason = judge_hello();
  challenge_ = encode(
      Challenge{.reason = reason, .key_id = key_->id(), .nonce = reason == Reason::none ? nonce_ : Nonce{}});
  if (reason == Reason::none) return std::nullopt;
  return Refusal{reason, {.version = told_.version, .key_id = told_.key_id}, own_facts()};
}

Reason ListenerHandshake::judge_identity() const noexcept {
  if (told_.job != key_->job()) return Reason::wrong_job;
  if (told_.purpose != service_.purpose) return Reason::wrong_purpose;
  const bool reaches = told_.to == any_process || service_.self == any_process || told_.to == service_.self;
  if (!reaches) return Reason::wrong_process;
  return told_.encrypt == key_->encrypts() ? Reason::none : Reason::wrong_encryption;
}

std::optional<Refusal> ListenerHandshake::take_proof(const ProofBytes& proof) {
  const auto write = [this](const WelcomeFields& fields, const Mac& mac) {
    std::copy(fields.begin(), fields.end(), welcome_.begin());
    std::copy(mac.begin(), mac.end(), welcome_.begin() + fields.size());
  };
  const auto expected = prove_dialler(*key_, hello_, challenge_);
  if (!expected || !same(*expected, proof)) {
    write(encode(Welcome{.reason = Reason::wrong_proof}), Mac{});
    return Refusal{expected ? Reason::wrong_proof : Reason::no_crypto, {}, own_facts()};
  }

  proof_ = proof;
  const Reason reason = judge_identity();
  const auto fields = encode(Welcome{.reason = reason,
                                     .purpose = static_cast<std::uint8_t>(service_.purpose),
                                     .encrypt = key_->encrypts(),
                                     .self = service_.self,
                                     .job = key_->job()});
  const auto mac = prove_listener(*key_, hello_, challenge_, proof, fields);
  write(fields, mac.value_or(Mac{}));
  if (!mac) return Refusal{Reason::no_crypto, {}, own_facts()};
  if (reason == Reason::none) return std::nullopt;
  const Facts dialler{.key_id = told_.key_id,
                      .purpose = told_.purpose,
                      .process = told_.to,
                      .job = told_.job,
                      .encrypts = told_.encrypt};
  return Refusal{reason, dialler, own_facts()};
}

std::optional<SharedKey> ListenerHandshake::shared_key() const {
  return make_shared_key(*key_, identity(), hello_, challenge_, proof_, welcome_);
}

Identity ListenerHandshake::identity() const noexcept {
  return {told_.purpose, told_.from, told_.to};
}

}  // namespace parley::socket
