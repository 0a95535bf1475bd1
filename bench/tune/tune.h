#pragma once

#include <string>
#include <vector>

namespace parley::bench::tune {

// `parley-bench tune`: starts ranks, has them measure, writes the table. Returns the exit status. Throws
// CommandLineError for wrong usage and std::runtime_error when the table cannot be written.
int tune_main(const std::vector<std::string>& arguments);

}  // namespace parley::bench::tune
