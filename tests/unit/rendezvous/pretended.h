#pragma once

#include <map>
#include <string>
#include <utility>

#include "rendezvous/discovery.h"
#include "rendezvous/surroundings.h"

namespace parley::rendezvous {

using Variables = std::map<std::string, std::string>;

// A process with these variables only, whose sockets were all made by one other process.
inline Surroundings pretend(Variables variables) {
  const auto variable = [variables = std::move(variables)](const char* name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end() || found->second.empty()) return std::nullopt;
    return found->second;
  };
  return {variable, [](int) { return std::optional<std::string>("4711/123456"); }};
}

// Where such a process is told to go.
inline Place place_of(const Variables& variables, int rank = -1, int world_size = -1) {
  return discover("env://", rank, world_size, pretend(variables));
}

}  // namespace parley::rendezvous
