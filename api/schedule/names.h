#pragma once

#include <string>

#include "api/schedule/operation.h"

namespace parley::schedule {

// For those who read names that users have written: whether an operation has an algorithm, and what there is,
// with commas between, for the answer to a wrong name.
bool has_algorithm(Operation operation, Algorithm algorithm) noexcept;
std::string list_operations();
std::string list_algorithms(Operation operation);

}  // namespace parley::schedule
