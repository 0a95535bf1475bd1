#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace parley::bench {

// The first thing about the text that is no well-formed XML, as far as elements, attributes and entities go;
// empty when there is none.
inline std::string ill_formed(std::string_view text) {
  std::vector<std::string> open;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '&') {
      const std::size_t end = text.find(';', i);
      if (end == std::string_view::npos || end - i > 6)
        return "a bare & at " + std::string(text.substr(i, 40));
    }
    if (text[i] != '<') continue;
    const std::size_t end = text.find('>', i);
    if (end == std::string_view::npos) return "a tag without an end";
    const std::string_view tag = text.substr(i + 1, end - i - 1);
    i = end;
    if (tag.starts_with("!DOCTYPE")) continue;
    std::size_t quotes = 0;
    for (const char letter : tag) quotes += letter == '"' ? 1 : 0;
    if (quotes % 2 != 0 || tag.find('<') != std::string_view::npos)
      return "quotes in <" + std::string(tag) + ">";
    const std::string name(tag.substr(0, tag.find_first_of(" /", tag.starts_with('/') ? 1 : 0)));
    if (tag.starts_with('/')) {
      if (open.empty() || "/" + open.back() != name) return "<" + name + "> closes another element";
      open.pop_back();
    } else if (!tag.ends_with('/')) {
      open.push_back(name);
    }
  }
  return open.empty() ? "" : "<" + open.back() + "> is left open";
}

}  // namespace parley::bench
