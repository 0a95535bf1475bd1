#include <parley/device.h>

#include <ostream>

#include "transport/base/log.h"

namespace parley {

std::string to_string(Device device) {
  return device.is_cpu() ? std::string("cpu") : base::concat("cuda:", device.index);
}

std::ostream& operator<<(std::ostream& out, Device device) {
  return out << to_string(device);
}

}  // namespace parley
