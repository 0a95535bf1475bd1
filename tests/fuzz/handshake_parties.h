#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "tests/fuzz/expect.h"
#include "transport/socket/handshake.h"

namespace parley::fuzz {

inline std::shared_ptr<const socket::JobKey> make_key(const std::string& secret) {
  socket::Credentials credentials;
  credentials.secret = secret;
  credentials.job.back() = std::byte{1};
  auto key = socket::JobKey::make(credentials);
  FUZZ_EXPECT(key.ok());
  return key.value();
}

inline socket::Nonce nonce_of(std::uint8_t seed) {
  socket::Nonce nonce{};
  nonce.fill(std::byte{seed});
  return nonce;
}

// Process 1 dials process 2 of the same job, and both know the secret.
inline socket::DiallerHandshake make_dialler(const std::shared_ptr<const socket::JobKey>& key) {
  return {{socket::Purpose::data, 1, 2}, key, nonce_of(1)};
}
inline socket::ListenerHandshake make_listener(const std::shared_ptr<const socket::JobKey>& key) {
  return {{socket::Purpose::data, 2}, key, nonce_of(2)};
}

// Adds the bytes, bit by bit, to those of a right message. Whether that changed anything.
template <typename Bytes>
bool mix(Bytes& bytes, const Bytes& right) {
  const bool changed = std::any_of(bytes.begin(), bytes.end(), [](std::byte b) { return b != std::byte{}; });
  std::transform(bytes.begin(), bytes.end(), right.begin(), bytes.begin(), std::bit_xor{});
  return changed;
}

// What is said about a refusal is one line that a stranger has not chosen.
inline void check_words(const socket::Refusal& refusal) {
  const std::string text = socket::explain(refusal);
  FUZZ_EXPECT(!text.empty() && text.size() < 1000);
  for (const char c : text) FUZZ_EXPECT(c >= ' ' && c != '\x7f');
}

}  // namespace parley::fuzz
