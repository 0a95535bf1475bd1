#pragma once

#include <set>
#include <string>

namespace parley::testing {

// Descriptors and threads that this process has now.
[[nodiscard]] std::set<int> open_descriptors();
[[nodiscard]] int thread_count();

// What a descriptor is: "socket:[123]", "anon_inode:[eventfd]".
[[nodiscard]] std::string name_of_descriptor(int fd);

}  // namespace parley::testing
