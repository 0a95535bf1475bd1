#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace parley::schedule {

// Who touched which elements of one buffer last: so the steps that a new access has to wait for are known,
// and a generator cannot forget one. Read after write, write after read, write after write.
class Hazards {
 public:
  // Step `step` reads or writes [begin, end); appends to `before` the steps it has to wait for, which may
  // repeat. A write waits for the readers since the last write, or else for that write: the readers waited
  // for it already. Cost: O(log regions + regions touched).
  void read(std::uint64_t begin, std::uint64_t end, std::uint32_t step, std::vector<std::uint32_t>& before);
  void write(std::uint64_t begin, std::uint64_t end, std::uint32_t step, std::vector<std::uint32_t>& before);

 private:
  static constexpr std::uint32_t nobody = 0xffffffff;
  struct Region {
    std::uint64_t end = 0;
    std::uint32_t writer = nobody;
    std::vector<std::uint32_t> readers = {};  // since the writer
  };
  using Regions = std::map<std::uint64_t, Region>;

  // Makes a border at `at` if a region lies across it.
  void split(std::uint64_t at);
  // The regions of [begin, end), with what nobody touched yet as regions of its own.
  Regions::iterator cover(std::uint64_t begin, std::uint64_t end);

  Regions regions_;  // by their begin; they do not overlap
};

}  // namespace parley::schedule
