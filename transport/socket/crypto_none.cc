#include <algorithm>

#include "transport/socket/crypto.h"

// A build without OpenSSL: every key and every proof is zero. Both ends must be built like this, for a key id
// of zero never equals a real one.
namespace parley::socket {

bool proofs_available() noexcept {
  return false;
}

void prepare_crypto() noexcept {}

bool derive(std::string_view, std::string_view, std::span<std::byte> out) noexcept {
  std::fill(out.begin(), out.end(), std::byte{0});
  return true;
}

std::optional<Mac> authenticate(const Key&, std::span<const std::byte>) noexcept {
  return Mac{};
}

bool same(const Mac& a, const Mac& b) noexcept {
  return a == b;
}

}  // namespace parley::socket
