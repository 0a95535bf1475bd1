#pragma once

#include <cstdint>

namespace parley::transport {

// How the data of a large message come: their receiver reads them (Mover::pull()), or their sender puts them
// on the link and both work at once.
enum class Path : std::uint8_t { pull, link };

[[nodiscard]] constexpr Path other(Path path) noexcept {
  return path == Path::pull ? Path::link : Path::pull;
}

}  // namespace parley::transport
