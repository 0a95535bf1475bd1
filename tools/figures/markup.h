#pragma once

#include <string>
#include <string_view>

namespace parley::figures {

// The text as it stands between tags and in attributes: & < > " are written as entities.
std::string escape(std::string_view text);

// Colours of charts and pages as CSS, light and dark; everything else refers to these. What has a colour of
// its own is of a class that sets --own.
std::string_view ground_style();
// What charts need beside: classes caption, tick, label, grid, one, frame, band, curve, dot, bar, leader.
std::string_view chart_style();
// What pages need beside: tables, cards of class `case` in a grid of class `charts`, scrolling of class
// `wide`.
std::string_view page_style();

// A page that needs nothing else. `styles` beyond the three above; `body` is markup. Well-formed XML as well
// as HTML if the body is.
std::string page(std::string_view title, std::string_view styles, std::string_view body);

}  // namespace parley::figures
