#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace parley::rendezvous {

// The first node of a list as Slurm writes it: "n3" of "n[3-5,9],x1", "r1n04-ib" of "r[1-2]n[04-07]-ib".
// Nothing when the list is malformed.
std::optional<std::string> first_node(std::string_view list);

// A port below those that kernels give to clients, the same for all who say the same: 15000 to 31999.
std::uint16_t port_for(std::string_view job);

}  // namespace parley::rendezvous
