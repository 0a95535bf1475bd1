#include "api/schedule/names.h"

#include "api/schedule/catalogue.h"

namespace parley::schedule {

bool has_algorithm(Operation operation, Algorithm algorithm) noexcept {
  return find_entry(operation, algorithm) != nullptr;
}

std::string list_operations() {
  std::string list;
  for (const Operation operation : all_operations()) {
    if (!list.empty()) list += ", ";
    list += name(operation);
  }
  return list;
}

std::string list_algorithms(Operation operation) {
  std::string list;
  for (const Entry& entry : catalogue()) {
    if (entry.operation != operation) continue;
    if (!list.empty()) list += ", ";
    list += name(entry.algorithm);
  }
  return list;
}

}  // namespace parley::schedule
