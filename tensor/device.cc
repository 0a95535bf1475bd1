#include <parley/device.h>

#include <ostream>

namespace parley {

std::string to_string(Device device) {
  return device.is_cpu() ? "cpu" : "cuda:" + std::to_string(device.index);
}

std::ostream& operator<<(std::ostream& out, Device device) {
  return out << to_string(device);
}

}  // namespace parley
