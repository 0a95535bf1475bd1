#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace parley::base {

// The host's name for people, from gethostname(2).
std::string host_name();

// The same for two processes exactly when they run under the same kernel boot and network namespace; no name
// is involved, for containers share names.
std::string host_id();
// Whether two of them differ in the network namespace only: one kernel runs both processes.
bool is_other_network_of_one_host(std::string_view one, std::string_view other);

// What can be seen of a process of our PID namespace.
struct ProcessSight {
  enum class State : std::uint8_t {
    unknown,  // hidden from us, or we have no descriptor to look with: it may be there
    there,
    ended,  // there is none of that number, or it has died and nobody has waited for it
  };
  State state = State::unknown;
  // While it is there: when it began, in clock ticks since the boot. With its number, a name that is not used
  // again.
  std::string start;
};
ProcessSight look_at_process(std::int64_t pid);

// The cores this process may run on (its affinity mask), ascending; at least one.
std::vector<std::uint16_t> usable_cores();

}  // namespace parley::base
