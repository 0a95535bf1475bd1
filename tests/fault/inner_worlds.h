#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "tests/contract/transport/inproc_world.h"
#include "tests/contract/transport/tcp_world.h"
#include "tests/contract/transport/transport_world.h"

namespace parley::transport::fault {

struct InnerWorld {
  std::string name;
  std::function<std::unique_ptr<contract::TransportWorld>()> make;
};

inline void PrintTo(const InnerWorld& one, std::ostream* out) {
  *out << one.name;
}

// The transports that are tested with faults; another one joins with a line.
inline std::vector<InnerWorld> inner_worlds() {
  return {{"Inproc", [] { return std::make_unique<contract::InprocWorld>(); }},
          {"Tcp", [] { return std::make_unique<contract::TcpWorld>(); }}};
}

}  // namespace parley::transport::fault
