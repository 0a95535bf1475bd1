#pragma once

#include <parley/parley.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace parley::testing {

// Messages that rank 0 sends rank 1 at once, answered by one when all have come.
struct Window {
  static constexpr std::size_t size = 64;
  std::array<std::int64_t, size> values{};
  std::array<Work, size> works;

  // Of both ranks.
  void exchange(ProcessGroup& world) {
    const bool sends = world.rank() == 0;
    for (std::size_t i = 0; i < size; ++i) {
      const std::span<std::int64_t> view(&values[i], 1);
      works[i] = sends ? world.isend(view, 1) : world.irecv(view, 0);
    }
    wait_all(works);
    if (sends)
      world.recv<std::int64_t>(1);
    else
      world.send(values[0], 0);
  }
};

}  // namespace parley::testing
