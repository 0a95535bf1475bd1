#pragma once

#include <cstddef>
#include <span>

namespace parley::socket {

// Fills the bytes from the kernel's generator, fit for keys and nonces. False, in practice never, when the
// kernel has none to give; nothing may be sent or stored then.
[[nodiscard]] bool fill_random(std::span<std::byte> bytes) noexcept;

}  // namespace parley::socket
