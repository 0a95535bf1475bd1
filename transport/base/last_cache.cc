#include "transport/base/last_cache.h"

#include <charconv>
#include <fstream>
#include <optional>
#include <string_view>
#include <system_error>

namespace parley::base {
namespace {

// The number that `text` begins with, which is taken from it.
std::optional<std::uint32_t> take_number(std::string_view& text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

// "32768K", as all caches' sizes are written. 0: it is no such size.
std::size_t bytes_of(std::string_view text) {
  const auto kib = take_number(text);
  return kib && text == "K" ? std::size_t{*kib} << 10 : 0;
}

// How many cores "0-3,8,10-11" names. 0: it is no such list.
std::uint32_t count_of(std::string_view list) {
  std::uint32_t count = 0;
  for (;;) {
    const auto first = take_number(list);
    if (!first) return 0;
    auto last = first;
    if (list.starts_with('-')) {
      list.remove_prefix(1);
      last = take_number(list);
      if (!last || *last < *first) return 0;
    }
    count += *last - *first + 1;
    if (list.empty()) return count;
    if (!list.starts_with(',')) return 0;
    list.remove_prefix(1);
  }
}

std::string word_of(const std::string& path) {
  std::string word;
  std::ifstream(path) >> word;
  return word;
}

}  // namespace

LastCache last_cache_of(std::uint16_t core, const std::string& root) {
  LastCache last;
  int last_level = 0;
  for (int index = 0;; ++index) {
    const std::string cache =
        root + "/sys/devices/system/cpu/cpu" + std::to_string(core) + "/cache/index" + std::to_string(index);
    int level = 0;
    if (!(std::ifstream(cache + "/level") >> level)) return last;
    const std::size_t bytes = bytes_of(word_of(cache + "/size"));
    const std::uint32_t cores = count_of(word_of(cache + "/shared_cpu_list"));
    if (level <= last_level || bytes == 0 || cores == 0 || word_of(cache + "/type") == "Instruction")
      continue;
    last = {bytes, cores};
    last_level = level;
  }
}

}  // namespace parley::base
