#pragma once

#include <optional>

#include "transport/socket/handshake_messages.h"

// What the two proofs of a handshake cover. Both labels have the same length, all parts a fixed one.
namespace parley::socket {

inline std::optional<Mac> prove_dialler(const JobKey& key, const HelloBytes& hello,
                                        const ChallengeBytes& challenge) noexcept {
  return key.prove("parley1 client", {hello, challenge});
}

inline std::optional<Mac> prove_listener(const JobKey& key, const HelloBytes& hello,
                                         const ChallengeBytes& challenge, const ProofBytes& proof,
                                         const WelcomeFields& fields) noexcept {
  return key.prove("parley1 server", {hello, challenge, proof, fields});
}

}  // namespace parley::socket
