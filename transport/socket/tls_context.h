#pragma once

#include <openssl/ssl.h>

#include <memory>

#include "transport/socket/secure_stream.h"

// What all TLS connections of the process share, and the pre-shared key as OpenSSL wants it. Included by
// secure_stream_openssl.cc only.
namespace parley::socket {

struct FreeSsl {
  void operator()(SSL* ssl) const noexcept { SSL_free(ssl); }
};
using SslPointer = std::unique_ptr<SSL, FreeSsl>;

// A connection that accepts that key and nothing else; `shared` outlives it. Empty when OpenSSL fails.
[[nodiscard]] SslPointer make_ssl(SecureStream::Role role, const SharedKey& shared) noexcept;

}  // namespace parley::socket
