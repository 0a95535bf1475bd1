#include "transport/socket/handshake_roles.h"

#include "transport/base/log.h"
#include "transport/socket/refusal.h"

namespace parley::socket {

std::optional<SharedKey> make_shared_key(const JobKey& key, const Identity& identity, const HelloBytes& hello,
                                         const ChallengeBytes& challenge, const ProofBytes& proof,
                                         const WelcomeBytes& welcome) {
  const auto made = key.connection_key({hello, challenge, proof, welcome});
  if (!made) return std::nullopt;
  const char* purpose = identity.purpose == Purpose::store ? " store " : " data ";
  return SharedKey{
      base::concat("parley1 job ", to_hex(key.job()), purpose, identity.from, " to ", identity.to), *made};
}

}  // namespace parley::socket
