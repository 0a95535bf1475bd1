#include "transport/socket/job_key.h"

#include <cstring>
#include <string>
#include <utility>

#include "transport/socket/secure_stream.h"

namespace parley::socket {

base::Result<std::shared_ptr<const JobKey>> JobKey::make(const Credentials& credentials) {
  if (credentials.authenticate && proofs_available() && credentials.secret.empty())
    return base::Failure{base::Code::refused, "the secret is empty: set PARLEY_SECRET"};
  if (credentials.encrypt && !tls_available())
    return base::Failure{base::Code::refused, "TLS is asked for, and this build has no OpenSSL"};
  if (credentials.encrypt && !credentials.authenticate)
    return base::Failure{base::Code::refused,
                         "TLS is asked for, and PARLEY_AUTH=off leaves no secret to make its key from"};
  std::shared_ptr<JobKey> made(new JobKey);
  made->job_ = credentials.job;
  made->authenticates_ = credentials.authenticate;
  made->encrypts_ = credentials.encrypt;
  if (!credentials.authenticate) {
    made->id_ = no_authentication_id;
    return std::shared_ptr<const JobKey>(std::move(made));
  }
  // The version is in the label, so that a secret used with another version of the protocol is another key.
  if (!derive(credentials.secret, "parley1 auth", made->key_) ||
      !derive(credentials.secret, "parley1 tls", made->tls_key_) ||
      !derive(credentials.secret, "parley1 key id", made->id_))
    return base::Failure{base::Code::io_error, "OpenSSL cannot derive a key by HKDF-SHA256"};
  return std::shared_ptr<const JobKey>(std::move(made));
}

JobKey::~JobKey() {
  explicit_bzero(key_.data(), key_.size());
  explicit_bzero(tls_key_.data(), tls_key_.size());
}

std::optional<Mac> JobKey::prove(std::string_view role,
                                 std::initializer_list<std::span<const std::byte>> parts) const noexcept {
  return authenticates_ ? authenticate_parts(key_, role, parts) : Mac{};
}

std::optional<Key> JobKey::connection_key(
    std::initializer_list<std::span<const std::byte>> transcript) const noexcept {
  return authenticate_parts(tls_key_, "parley1 tls", transcript);
}

std::optional<Mac> JobKey::authenticate_parts(
    const Key& key, std::string_view label,
    std::initializer_list<std::span<const std::byte>> parts) noexcept {
  std::array<std::byte, 256> message;
  std::size_t used = 0;
  const auto append = [&](std::span<const std::byte> part) {
    if (part.size() > message.size() - used) return false;
    std::memcpy(message.data() + used, part.data(), part.size());
    used += part.size();
    return true;
  };
  if (!append(std::as_bytes(std::span(label)))) return std::nullopt;
  for (const auto part : parts)
    if (!append(part)) return std::nullopt;
  return authenticate(key, std::span(message).first(used));
}

}  // namespace parley::socket
