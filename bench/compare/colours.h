#pragma once

#include <string>
#include <string_view>

namespace parley::bench::compare {

// "c-openmpi": the class that gives a system its colour in charts and tables.
std::string colour_class(std::string_view system);

// These colours as CSS, light and dark, and how curves of systems differ.
std::string_view colour_style();

}  // namespace parley::bench::compare
