#include "transport/socket/tls_context.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <cstring>

namespace parley::socket {
namespace {

struct FreeContext {
  void operator()(SSL_CTX* context) const noexcept { SSL_CTX_free(context); }
};
struct FreeSession {
  void operator()(SSL_SESSION* session) const noexcept { SSL_SESSION_free(session); }
};
using SessionPointer = std::unique_ptr<SSL_SESSION, FreeSession>;

// SHA-256 for all, as RFC 9257 wants one hash per key.
constexpr char suites[] = "TLS_AES_128_GCM_SHA256:TLS_CHACHA20_POLY1305_SHA256";
constexpr unsigned char first_suite[] = {0x13, 0x01};

const SharedKey& shared_of(SSL* ssl) noexcept {
  return *static_cast<const SharedKey*>(SSL_get_app_data(ssl));
}

// The key in the shape of an earlier session, which is what a pre-shared key of TLS 1.3 resumes.
SessionPointer make_session(SSL* ssl) noexcept {
  SessionPointer session(SSL_SESSION_new());
  const SSL_CIPHER* suite = SSL_CIPHER_find(ssl, first_suite);
  const Key& key = shared_of(ssl).key;
  const bool made = session && suite != nullptr &&
                    SSL_SESSION_set1_master_key(
                        session.get(), reinterpret_cast<const unsigned char*>(key.data()), key.size()) == 1 &&
                    SSL_SESSION_set_cipher(session.get(), suite) == 1 &&
                    SSL_SESSION_set_protocol_version(session.get(), TLS1_3_VERSION) == 1;
  if (!made) session.reset();
  return session;
}

// `wanted_hash`: null, or what the server asked for in a second round.
int offer_key(SSL* ssl, const EVP_MD* wanted_hash, const unsigned char** identity, std::size_t* length,
              SSL_SESSION** session) noexcept {
  *session = nullptr;
  if (wanted_hash != nullptr && EVP_MD_get_type(wanted_hash) != NID_sha256) return 1;
  *session = make_session(ssl).release();
  *identity = reinterpret_cast<const unsigned char*>(shared_of(ssl).identity.data());
  *length = shared_of(ssl).identity.size();
  return *session != nullptr ? 1 : 0;
}

int find_key(SSL* ssl, const unsigned char* identity, std::size_t length, SSL_SESSION** session) noexcept {
  const std::string& own = shared_of(ssl).identity;
  const bool known = length == own.size() && std::memcmp(identity, own.data(), length) == 0;
  *session = known ? make_session(ssl).release() : nullptr;  // none: the handshake fails
  return 1;
}

std::unique_ptr<SSL_CTX, FreeContext> make_context() noexcept {
  std::unique_ptr<SSL_CTX, FreeContext> context(SSL_CTX_new(TLS_method()));
  const bool made = context && SSL_CTX_set_min_proto_version(context.get(), TLS1_3_VERSION) == 1 &&
                    SSL_CTX_set_max_proto_version(context.get(), TLS1_3_VERSION) == 1 &&
                    SSL_CTX_set_ciphersuites(context.get(), suites) == 1 &&
                    SSL_CTX_set1_groups_list(context.get(), "X25519:P-256") == 1 &&
                    SSL_CTX_set_num_tickets(context.get(), 0) == 1;
  if (!made) return nullptr;
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  SSL_CTX_set_mode(context.get(), SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_psk_use_session_callback(context.get(), offer_key);
  SSL_CTX_set_psk_find_session_callback(context.get(), find_key);
  return context;
}

}  // namespace

SslPointer make_ssl(SecureStream::Role role, const SharedKey& shared) noexcept {
  // Never freed: connections may outlive the static objects of the program.
  static SSL_CTX* const context = make_context().release();
  if (context == nullptr) return nullptr;
  SslPointer ssl(SSL_new(context));
  if (!ssl || SSL_set_app_data(ssl.get(), const_cast<SharedKey*>(&shared)) != 1) return nullptr;
  if (role == SecureStream::Role::server) {
    SSL_set_accept_state(ssl.get());
  } else {
    SSL_set_connect_state(ssl.get());
    // Nobody is trusted for a certificate: a server that does not know the key must not get in by showing
    // one.
    SSL_set_verify(ssl.get(), SSL_VERIFY_PEER, nullptr);
  }
  return ssl;
}

}  // namespace parley::socket
