#pragma once

#include <string>
#include <vector>

#include "transport/socket/interface_choice.h"

namespace parley::socket {

// All addresses of all interfaces of this host, in the kernel's order. Throws parley::SystemError.
std::vector<InterfaceAddress> network_addresses();

// Where this process should listen so that others reach it: PARLEY_HOST if it is set; else as
// PARLEY_SOCKET_IFNAME chooses; else the address of the route to `towards`, the host of the store. `towards`
// may be empty when one of the two is set (see knows_own_address()). Throws UsageError when the variable is
// malformed, SystemError, which lists all interfaces, when no interface is included, or when there is no
// route.
std::string own_address(const std::string& towards);

// Whether PARLEY_HOST or PARLEY_SOCKET_IFNAME is set: then own_address() needs no route.
bool knows_own_address();

// `address` ("[fe80::1%eth0]:4711") as this process must dial it when it listens on `own` itself: the scope
// of a link-local address is the name of an interface of the host that it came from, ours may be another.
std::string with_own_scope(const std::string& address, const std::string& own);

}  // namespace parley::socket
