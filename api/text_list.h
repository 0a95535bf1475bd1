#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "transport/base/result.h"

namespace parley::detail {

// How a list of texts travels, in one message: their number, the size of each, then all of them as one piece.
// Numbers have 8 bytes, little endian.
std::vector<std::byte> encode_texts(std::span<const std::string> texts);
// From whomever; fails with `protocol_violation` and a sentence for people.
base::Result<std::vector<std::string>> decode_texts(std::span<const std::byte> message);
// Bytes that encode_texts() makes of them.
std::size_t encoded_bytes(std::span<const std::string> texts) noexcept;

// How deep arrays and objects lie in one another in a JSON text; of other texts any number.
int nesting_of(std::string_view json) noexcept;

}  // namespace parley::detail
