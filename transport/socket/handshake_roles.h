#pragma once

#include <optional>

#include "transport/socket/handshake_messages.h"
#include "transport/socket/secure_stream.h"

// What the two proofs of a handshake cover, and the key that may follow them. Both labels have the same
// length, all parts a fixed one.
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

// Fresh nonces make it another key for each connection; the identity names job, purpose and both processes.
std::optional<SharedKey> make_shared_key(const JobKey& key, const Identity& identity, const HelloBytes& hello,
                                         const ChallengeBytes& challenge, const ProofBytes& proof,
                                         const WelcomeBytes& welcome);

}  // namespace parley::socket
