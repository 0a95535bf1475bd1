#pragma once

#include <cstdint>
#include <string>

namespace parley::base {

// The host's name for people, from gethostname(2).
std::string host_name();

// The same for two processes exactly when they run under the same kernel boot and network namespace; no name
// is involved, for containers share names.
std::string host_id();

// Cores this process may use: its affinity mask, at least 1.
int usable_cores() noexcept;

}  // namespace parley::base
