#pragma once

#include <string_view>

namespace parley::sim {

// What `parley-sim --help` prints: a page in the manner of man(1).
std::string_view manual() noexcept;

}  // namespace parley::sim
