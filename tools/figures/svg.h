#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace parley::figures {

// Parts of SVG drawings; classes are those of chart_style(). Units are those of the view box.

std::string line_at(std::string_view kind, double x1, double y1, double x2, double y2);
std::string text_at(double x, double y, std::string_view anchor, std::string_view text,
                    std::string_view kind = "tick");

struct Box {
  double left, top, right, bottom;
};
std::string frame(const Box& box);

// A whole drawing of this size, `body` being its parts: inline for a page that has the styles, or a file of
// its own, with a title above and `styles` beside those that charts need.
std::string inline_drawing(double width, double height, std::string_view hint, std::string_view body);
std::string drawing_file(double width, double height, std::string_view title, std::string_view styles,
                         std::string_view body);

// A name beside the end of its curve.
struct Label {
  std::string text;
  std::string kind;  // the class that has its colour
  double x;          // of what it names
  double y;
  double place = 0;  // where it stands
};
// To the right of the box, which leaves room there; those too near are moved apart and keep their order.
std::string labels(std::vector<Label> all, const Box& box);

}  // namespace parley::figures
