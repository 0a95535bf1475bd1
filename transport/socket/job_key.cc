#include "transport/socket/job_key.h"

#include <cstring>
#include <string>

namespace parley::socket {

base::Result<std::shared_ptr<const JobKey>> JobKey::make(const Credentials& credentials) {
  if (credentials.authenticate && proofs_available() && credentials.secret.empty())
    return base::Failure{base::Code::refused, "the secret is empty: set PARLEY_SECRET"};
  std::shared_ptr<JobKey> made(new JobKey);
  made->job_ = credentials.job;
  made->authenticates_ = credentials.authenticate;
  if (!credentials.authenticate) {
    made->id_ = no_authentication_id;
    return std::shared_ptr<const JobKey>(std::move(made));
  }
  // The version is in the label, so that a secret used with another version of the protocol is another key.
  if (!derive(credentials.secret, "parley1 auth", made->key_) ||
      !derive(credentials.secret, "parley1 key id", made->id_))
    return base::Failure{base::Code::io_error, "OpenSSL cannot derive a key by HKDF-SHA256"};
  return std::shared_ptr<const JobKey>(std::move(made));
}

JobKey::~JobKey() {
  explicit_bzero(key_.data(), key_.size());
}

std::optional<Mac> JobKey::prove(std::string_view role,
                                 std::initializer_list<std::span<const std::byte>> parts) const noexcept {
  if (!authenticates_) return Mac{};
  std::array<std::byte, 256> message;
  std::size_t used = 0;
  const auto append = [&](std::span<const std::byte> part) {
    if (part.size() > message.size() - used) return false;
    std::memcpy(message.data() + used, part.data(), part.size());
    used += part.size();
    return true;
  };
  if (!append(std::as_bytes(std::span(role)))) return std::nullopt;
  for (const auto part : parts)
    if (!append(part)) return std::nullopt;
  return authenticate(key_, std::span(message).first(used));
}

}  // namespace parley::socket
