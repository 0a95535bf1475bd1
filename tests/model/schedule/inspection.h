#pragma once

#include <string>
#include <vector>

#include "tests/model/schedule/group.h"

namespace parley::schedule {

// Looks at a schedule without running it, knowing nothing of how it was built. "" or what is wrong: that the
// steps are in an order in which they can run, slices lie in their buffers, the input is not written, and any
// two steps of which one writes what the other touches are ordered by a path of successors (so never run at
// the same time).
std::string inspect(const Case& one, const Shape& shape, const Schedule& schedule);

}  // namespace parley::schedule
