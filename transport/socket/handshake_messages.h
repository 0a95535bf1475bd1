#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "transport/socket/crypto.h"
#include "transport/socket/identity.h"
#include "transport/socket/job_key.h"

// The four messages of the handshake as bytes; README.md draws them. Each has one fixed size, integers are
// little endian, and a decoder accepts exactly what its encoder can produce.
//
//   dialler   HELLO     ->
//                       <-  CHALLENGE   listener
//             PROOF     ->
//                       <-  WELCOME
namespace parley::socket {

inline constexpr std::uint16_t protocol_version = 1;

using Nonce = std::array<std::byte, 32>;

// Why a handshake ends badly. Values from `not_parley` on never travel: one side found out by itself.
enum class Reason : std::uint8_t {
  none = 0,
  other_version = 1,  // told before the proof, with version and key id only
  other_key = 2,      // the same
  wrong_proof = 3,    // told after a proof that was wrong, with nothing else
  wrong_purpose = 4,  // told after a right proof, like those that follow
  wrong_process = 5,
  wrong_job = 6,
  wrong_encryption = 7,
  not_parley = 128,  // what came is no message of this handshake
  impostor = 129,    // the listener cannot prove that it knows the secret
  no_crypto = 130,   // no random bytes, or OpenSSL failed
  tls_failed = 131,  // after a handshake that went well
};

struct Hello {
  std::uint16_t version = protocol_version;
  Purpose purpose = Purpose::data;
  bool encrypt = false;
  ProcessNumber from = any_process;
  ProcessNumber to = any_process;
  KeyId key_id{};
  JobId job{};
  Nonce nonce{};
};

// `reason` other than none: the handshake ends here, and the nonce is zero.
struct Challenge {
  std::uint16_t version = protocol_version;
  Reason reason = Reason::none;
  KeyId key_id{};
  Nonce nonce{};
};

// After a wrong proof all fields but the reason are zero.
struct Welcome {
  Reason reason = Reason::none;
  std::uint8_t purpose = 0;  // a Purpose, or zero
  bool encrypt = false;
  ProcessNumber self = 0;
  JobId job{};
};

// HELLO's and CHALLENGE's sizes, and the place of magic and version in them, are the same in all versions of
// the protocol; otherwise a version could not be refused.
using HelloBytes = std::array<std::byte, 72>;
using ChallengeBytes = std::array<std::byte, 48>;
using ProofBytes = Mac;
using WelcomeFields = std::array<std::byte, 24>;
using WelcomeBytes = std::array<std::byte, 56>;  // the fields, then their proof

// What HELLO and CHALLENGE begin with.
inline constexpr std::size_t magic_bytes = 8;
[[nodiscard]] std::span<const std::byte, magic_bytes> hello_magic() noexcept;
[[nodiscard]] std::span<const std::byte, magic_bytes> challenge_magic() noexcept;

[[nodiscard]] HelloBytes encode(const Hello& hello) noexcept;
[[nodiscard]] ChallengeBytes encode(const Challenge& challenge) noexcept;
[[nodiscard]] WelcomeFields encode(const Welcome& welcome) noexcept;

// Nothing when the bytes are no such message. Of another version only `version` (and in a CHALLENGE `key_id`)
// is decoded.
[[nodiscard]] std::optional<Hello> decode_hello(const HelloBytes& bytes) noexcept;
[[nodiscard]] std::optional<Challenge> decode_challenge(const ChallengeBytes& bytes) noexcept;
[[nodiscard]] std::optional<Welcome> decode_welcome(const WelcomeFields& fields) noexcept;

}  // namespace parley::socket
