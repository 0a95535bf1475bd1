#include "transport/base/wire.h"

namespace parley::base {

// Out of line: GCC 12 takes the growth of the vector, inlined with a known size, for an overflow.
void WireWriter::append(const void* data, std::size_t size) {
  const auto* bytes = static_cast<const std::byte*>(data);
  bytes_.insert(bytes_.end(), bytes, bytes + size);
}

}  // namespace parley::base
