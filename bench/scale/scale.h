#pragma once

#include <string>
#include <vector>

namespace parley::bench::scale {

// `parley-bench scale`: starts worlds, measures them, tells the laws. Returns the exit status. Throws
// CommandLineError for wrong usage and std::runtime_error when a world fails or no rows can be written.
int scale_main(const std::vector<std::string>& arguments);

}  // namespace parley::bench::scale
