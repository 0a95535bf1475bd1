#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/schedule/catalogue.h"
#include "tests/model/schedule/value.h"

namespace parley::schedule {

enum class Placing : std::uint8_t { one_host, in_turn, blocks };  // ranks to hosts

enum class InPlace : std::uint8_t { nobody, everybody, odd_ranks };

// One collective of one group, in numbers.
struct Case {
  Operation operation = Operation::all_reduce;
  Algorithm algorithm = Algorithm::ring;
  std::uint32_t size = 1;
  std::uint32_t root = 0;
  std::uint64_t count = 0;
  bool uneven = false;
  InPlace in_place = InPlace::nobody;
  std::uint64_t segment_count = 0;
  Placing placing = Placing::one_host;
  std::uint64_t stage_count = 0;  // elements that each rank can show its host at once; 0: none share memory
  bool has_loans = false;         // callers' buffers may be lent
  std::uint64_t line_count = 2;   // how many of them have room beside a mark
  std::int32_t line_turns = 2;    // after which the same memory is used again
  std::int32_t stage_turns = 2;
  bool everyone_lends = false;  // all that may be lent is
};
std::string describe(const Case& one);

// The shapes of all ranks of a case, their schedules, and the memory that they work on.
class Group {
 public:
  explicit Group(const Case& one);
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  // The schedules as the library makes them; `all_fit` first.
  [[nodiscard]] bool all_fit() const;
  [[nodiscard]] std::vector<Schedule> schedules() const;

  [[nodiscard]] const Case& what() const { return case_; }
  [[nodiscard]] const Shape& shape(std::uint32_t rank) const { return shapes_[rank]; }
  [[nodiscard]] std::uint32_t host(std::uint32_t rank) const { return hosts_[rank]; }
  // Whether they see each other's marks.
  [[nodiscard]] bool are_neighbours(std::uint32_t rank, std::uint32_t other) const {
    return rank != other && hosts_[rank] == hosts_[other];
  }
  // all_to_all: what `from` sends to `to`.
  [[nodiscard]] std::uint64_t pair_count(std::uint32_t from, std::uint32_t to) const;

  // "" if `output`, of all ranks, is what the operation promises.
  [[nodiscard]] std::string check(const std::vector<std::vector<Value>>& output) const;

 private:
  void fold_prefixes();
  [[nodiscard]] std::string check_rank(std::uint32_t rank, const std::vector<Value>& output) const;
  [[nodiscard]] std::string check_reduced(std::uint32_t rank, const std::vector<Value>& output,
                                          std::uint32_t last, std::uint64_t offset) const;
  [[nodiscard]] std::string check_moved(std::uint32_t rank, const std::vector<Value>& output) const;

  Case case_;
  std::vector<std::uint64_t> counts_;                // of ranks' blocks, when uneven
  std::vector<std::vector<std::uint64_t>> rows_;     // uneven all_to_all: what each rank sends
  std::vector<std::vector<std::uint64_t>> columns_;  // and receives
  std::vector<std::uint32_t> hosts_;
  std::vector<Shape> shapes_;
  std::vector<std::vector<Value>> prefixes_;  // [r][i]: left fold of element i of ranks 0 to r
};

}  // namespace parley::schedule
