#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/schedule/operation.h"
#include "api/schedule/prices.h"
#include "transport/base/result.h"

namespace parley::schedule {

// What a measured choice is for. Of groups on one host: between hosts it is the network that counts, and
// nothing here tells one from another.
struct TuningCase {
  Operation operation = Operation::all_reduce;
  std::uint32_t ranks = 0;  // of the group
  Link link = Link::shared_memory;
  bool shares_cores = false;  // more ranks than cores
  std::uint64_t bytes = 0;    // as ProcessGroup::describe_plan() counts them

  friend auto operator<=>(const TuningCase&, const TuningCase&) = default;  // NOLINT(modernize-use-nullptr)
};

// The algorithm that was fastest up to so many bytes, from where the row before it ends.
struct TuningRow {
  TuningCase up_to;
  Algorithm algorithm = Algorithm::linear;

  friend bool operator==(const TuningRow&, const TuningRow&) = default;
};
// For TuningRow::up_to.bytes: no size is too large.
inline constexpr std::uint64_t any_size = std::numeric_limits<std::uint64_t>::max();

// What was measured on a machine, and shall be chosen there. Segments are cut as the price model says.
// Immutable.
class Tuning {
 public:
  Tuning() = default;
  // In any order. REQUIRES: no two rows of one case.
  explicit Tuning(std::vector<TuningRow> rows);

  // In order.
  [[nodiscard]] std::span<const TuningRow> rows() const noexcept { return rows_; }
  // By the row of the same operation, ranks, link and cores with the least size that is not below the case's;
  // nothing: there is none.
  [[nodiscard]] std::optional<Algorithm> find(const TuningCase& wanted) const noexcept;
  // Equal for tables of the same rows; 0: of none. Two tables of different rows have the same one by chance,
  // once in 2^64.
  [[nodiscard]] std::uint64_t hash() const noexcept { return hash_; }

 private:
  std::vector<TuningRow> rows_;
  std::uint64_t hash_ = 0;
};

// The text of a file: "parley-tuning 1", then a row a line, as
//   all_reduce 4 shm own 65536 recursive_doubling
// operation; ranks; shm or tcp; own or shared cores; largest size in bytes, or any; algorithm. What follows a
// # is a comment. A failure names the line, what is wrong with it, and what exists.
base::Result<Tuning> parse_tuning(std::string_view text);

// What parse_tuning() reads back, with the lines of `remarks` as comments on top.
std::string format_tuning(const Tuning& tuning, std::string_view remarks);

}  // namespace parley::schedule
