#pragma once

#include <string>
#include <string_view>

#include "rendezvous/surroundings.h"

namespace parley::rendezvous {

// The path of a file that all processes of this user on this host which say the same key agree on, in a
// folder that is nobody else's: $XDG_RUNTIME_DIR/parley, else /tmp/parley-UID. Makes the folder with mode
// 0700. Throws parley::SystemError when it is not this user's alone.
std::string private_file(std::string_view key, const Surroundings& around);

}  // namespace parley::rendezvous
