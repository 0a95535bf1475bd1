#include "bench/parley_world.h"

#include <parley/tensor.h>

#include <cstdint>
#include <type_traits>

namespace parley::bench {
namespace {

// A view of the bytes, or nothing to view.
template <typename Byte>
auto octets(std::span<Byte> data) {
  using Octet = std::conditional_t<std::is_const_v<Byte>, const std::uint8_t, std::uint8_t>;
  return std::span<Octet>(reinterpret_cast<Octet*>(data.data()), data.size());
}

}  // namespace

void ParleyWorld::send_bytes(std::span<const std::byte> data, int destination) {
  group_.send(octets(data), destination);
}

void ParleyWorld::recv_bytes(std::span<std::byte> data, int source) {
  group_.recv(octets(data), source);
}

}  // namespace parley::bench
