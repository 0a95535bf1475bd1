#pragma once

#include <string_view>

namespace parley::bench::compare {

// What `parley-bench --help` and `parley-bench compare --help` print: pages in the manner of man(1).
std::string_view bench_manual() noexcept;
std::string_view compare_manual() noexcept;

}  // namespace parley::bench::compare
