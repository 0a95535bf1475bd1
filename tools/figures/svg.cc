#include "tools/figures/svg.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/figures/markup.h"

namespace parley::figures {
namespace {

constexpr double label_distance = 15;
constexpr double title_height = 28;
constexpr double title_left = 62;

}  // namespace

std::string line_at(std::string_view kind, double x1, double y1, double x2, double y2) {
  return fmt::format(R"(<line class="{}" x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}"/>)", kind, x1, y1,
                     x2, y2);
}

std::string text_at(double x, double y, std::string_view anchor, std::string_view text,
                    std::string_view kind) {
  return fmt::format(R"(<text class="{}" x="{:.1f}" y="{:.1f}" text-anchor="{}">{}</text>)", kind, x, y,
                     anchor, escape(text));
}

std::string frame(const Box& box) {
  return fmt::format(R"(<rect class="frame" x="{}" y="{}" width="{}" height="{}"/>)", box.left, box.top,
                     box.right - box.left, box.bottom - box.top);
}

std::string inline_drawing(double width, double height, std::string_view hint, std::string_view body) {
  return fmt::format(R"(<svg class="chart" viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>)", width,
                     height, escape(hint), body);
}

std::string drawing_file(double width, double height, std::string_view title, std::string_view styles,
                         std::string_view body) {
  std::string svg = fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" class="chart" width="{0}" height="{1}" viewBox="0 0 {0} {1}">)",
      width, height + title_height);
  svg += fmt::format("<style>{}{}{}</style>", ground_style(), chart_style(), styles);
  svg += fmt::format(R"--(<rect width="{}" height="{}" style="fill: var(--ground)"/>)--", width,
                     height + title_height);
  svg += text_at(title_left, 20, "start", title, "caption");
  return svg + fmt::format("<g transform=\"translate(0 {})\">{}</g></svg>\n", title_height, body);
}

std::string labels(std::vector<Label> all, const Box& box) {
  std::sort(all.begin(), all.end(), [](const Label& a, const Label& b) { return a.y < b.y; });
  double lowest = box.top;
  for (Label& label : all) {
    label.place = std::max(label.y, lowest);
    lowest = label.place + label_distance;
  }
  double highest = box.bottom;
  for (auto label = all.rbegin(); label != all.rend(); ++label) {
    label->place = std::min(label->place, highest);
    highest = label->place - label_distance;
  }
  std::string svg;
  for (const Label& label : all) {
    svg += fmt::format(
        R"(<g class="{}"><path class="leader" d="M{:.1f} {:.1f} L{:.1f} {:.1f} L{:.1f} {:.1f}"/>)",
        label.kind, label.x + 5, label.y, box.right + 4, label.y, box.right + 12, label.place);
    svg += text_at(box.right + 16, label.place + 4, "start", label.text, "label") + "</g>";
  }
  return svg;
}

}  // namespace parley::figures
