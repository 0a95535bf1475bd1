#pragma once

#include <string>
#include <string_view>

#include "api/schedule/operation.h"

namespace parley::sim {

// "a-ring": the class that gives an algorithm its colour in charts and maps, on every page the same.
std::string colour_class(schedule::Algorithm algorithm);

// These colours as CSS, light and dark, with that of the bound, class a-bound.
std::string colour_style();

}  // namespace parley::sim
