#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "transport/base/result.h"
#include "transport/socket/crypto.h"
#include "transport/socket/identity.h"

namespace parley::socket {

// Tells secrets apart without telling them; told to strangers.
using KeyId = std::array<std::byte, 4>;
// Told by those who prove nothing: a build without OpenSSL, and PARLEY_AUTH=off.
inline constexpr KeyId no_openssl_id{};
inline constexpr KeyId no_authentication_id{std::byte{0xff}, std::byte{0xff}, std::byte{0xff},
                                            std::byte{0xff}};

// What a process needs of its credentials once the secret itself is no longer needed: a key derived from it,
// the key's public id, and the job. Wipes itself on destruction.
// Thread-safety: immutable.
class JobKey {
 public:
  // Fails with `refused` for an empty secret, and for encryption that there cannot be; with `io_error` when
  // the cryptographic library fails.
  static base::Result<std::shared_ptr<const JobKey>> make(const Credentials& credentials);
  ~JobKey();
  JobKey(const JobKey&) = delete;
  JobKey& operator=(const JobKey&) = delete;

  [[nodiscard]] const KeyId& id() const noexcept { return id_; }
  [[nodiscard]] const JobId& job() const noexcept { return job_; }
  // False: its proofs are zeros, which everybody can make.
  [[nodiscard]] bool authenticates() const noexcept { return authenticates_; }

  // Whether connections are encrypted once they are proved.
  [[nodiscard]] bool encrypts() const noexcept { return encrypts_; }

  // The proof over role and parts, in this order. Each caller uses parts of fixed sizes, so that the bytes
  // have one reading only. At most 256 bytes in all; nothing when there are more or the library fails.
  [[nodiscard]] std::optional<Mac> prove(
      std::string_view role, std::initializer_list<std::span<const std::byte>> parts) const noexcept;

  // The key of one encrypted connection, from all that was said in its handshake. Nothing as above.
  [[nodiscard]] std::optional<Key> connection_key(
      std::initializer_list<std::span<const std::byte>> transcript) const noexcept;

 private:
  JobKey() = default;
  static std::optional<Mac> authenticate_parts(
      const Key& key, std::string_view label,
      std::initializer_list<std::span<const std::byte>> parts) noexcept;

  Key key_{};
  Key tls_key_{};
  KeyId id_{};
  JobId job_{};
  bool authenticates_ = true;
  bool encrypts_ = false;
};

}  // namespace parley::socket
