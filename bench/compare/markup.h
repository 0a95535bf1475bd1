#pragma once

#include <string>
#include <string_view>

namespace parley::bench::compare {

// The text as it stands between tags and in attributes: & < > " are written as entities.
std::string escape(std::string_view text);

// "c-openmpi": the class that gives a system its colour in charts and tables; style_of_systems() has them.
std::string colour_class(std::string_view system);

// Colours of charts and pages as CSS, light and dark. Everything else refers to these.
std::string_view colour_style();
// What charts need beside.
std::string_view chart_style();

}  // namespace parley::bench::compare
