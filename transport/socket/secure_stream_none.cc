#include "transport/socket/secure_stream.h"

// A build without OpenSSL has no TLS.
namespace parley::socket {

bool tls_available() noexcept {
  return false;
}

std::unique_ptr<SecureStream> make_secure_stream(int, SecureStream::Role, const SharedKey&,
                                                 std::size_t) noexcept {
  return nullptr;
}

}  // namespace parley::socket
