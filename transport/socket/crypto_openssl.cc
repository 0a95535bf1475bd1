#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>

#include <memory>

#include "transport/socket/crypto.h"

namespace parley::socket {
namespace {

struct FreeKdf {
  void operator()(EVP_KDF* kdf) const noexcept { EVP_KDF_free(kdf); }
  void operator()(EVP_KDF_CTX* context) const noexcept { EVP_KDF_CTX_free(context); }
};

// OpenSSL takes pointers to non-const for what it only reads.
OSSL_PARAM octets(const char* name, std::string_view value) noexcept {
  return OSSL_PARAM_construct_octet_string(name, const_cast<char*>(value.data()), value.size());
}

}  // namespace

bool proofs_available() noexcept {
  return true;
}

void prepare_crypto() noexcept {
  OPENSSL_init_crypto(OPENSSL_INIT_LOAD_CRYPTO_STRINGS, nullptr);  // with no option it would do nothing
}

bool derive(std::string_view secret, std::string_view label, std::span<std::byte> out) noexcept {
  const std::unique_ptr<EVP_KDF, FreeKdf> kdf(EVP_KDF_fetch(nullptr, "HKDF", nullptr));
  if (!kdf) return false;
  const std::unique_ptr<EVP_KDF_CTX, FreeKdf> context(EVP_KDF_CTX_new(kdf.get()));
  if (!context) return false;
  char digest[] = "SHA256";
  const std::array<OSSL_PARAM, 4> parameters{
      OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest, 0), octets(OSSL_KDF_PARAM_KEY, secret),
      octets(OSSL_KDF_PARAM_INFO, label), OSSL_PARAM_construct_end()};
  return EVP_KDF_derive(context.get(), reinterpret_cast<unsigned char*>(out.data()), out.size(),
                        parameters.data()) == 1;
}

std::optional<Mac> authenticate(const Key& key, std::span<const std::byte> message) noexcept {
  Mac mac{};
  std::size_t length = 0;
  const auto* result = EVP_Q_mac(nullptr, "HMAC", nullptr, "SHA256", nullptr, key.data(), key.size(),
                                 reinterpret_cast<const unsigned char*>(message.data()), message.size(),
                                 reinterpret_cast<unsigned char*>(mac.data()), mac.size(), &length);
  if (result == nullptr || length != mac.size()) return std::nullopt;
  return mac;
}

bool same(const Mac& a, const Mac& b) noexcept {
  return CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace parley::socket
