#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

// The few cryptographic primitives of the handshake. crypto_openssl.cc implements them; a build with
// PARLEY_WITH_OPENSSL=OFF takes crypto_none.cc instead, which proves nothing.
// Thread-safety: all functions may be called from any thread.
namespace parley::socket {

using Mac = std::array<std::byte, 32>;
using Key = std::array<std::byte, 32>;

// Whether a proof is worth something. When false, only loopback addresses may be used.
[[nodiscard]] bool proofs_available() noexcept;

// Sets the cryptographic library up now instead of at its first use. At the end of the process it tears
// itself down in the reverse order of set-up, so whoever still shakes hands in a handler of its own at that
// time has to call this before it registers that handler.
void prepare_crypto() noexcept;

// HKDF-SHA256 of the secret without salt; `label` keeps keys for different uses apart. False when the
// cryptographic library fails.
[[nodiscard]] bool derive(std::string_view secret, std::string_view label, std::span<std::byte> out) noexcept;

// HMAC-SHA256. Nothing when the cryptographic library fails.
[[nodiscard]] std::optional<Mac> authenticate(const Key& key, std::span<const std::byte> message) noexcept;

// Takes the same time wherever the two differ.
[[nodiscard]] bool same(const Mac& a, const Mac& b) noexcept;

}  // namespace parley::socket
