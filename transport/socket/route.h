#pragma once

#include <string>

namespace parley::socket {

// The address of this host that packets to `host` would carry as their source: where others that share a
// network with `host` reach us. No packet is sent. Throws parley::SystemError when the name cannot be
// resolved or there is no route.
std::string address_towards(const std::string& host);

}  // namespace parley::socket
