#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace parley::base {

// The host's name for people, from gethostname(2).
std::string host_name();

// The same for two processes exactly when they run under the same kernel boot and network namespace; no name
// is involved, for containers share names.
std::string host_id();

// When a process of this host began, in clock ticks since the boot: with its number, a name that is not used
// again. Empty when there is none of that number, or it has died and nobody has waited for it.
std::string process_start(std::int64_t pid);

// The cores this process may run on (its affinity mask), ascending; at least one.
std::vector<std::uint16_t> usable_cores();

}  // namespace parley::base
